# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "data='DIR'; out='DIR'; format='svg|png'" plot.gp: bars that differ by pattern, not by colour.
if (format eq 'png') set terminal pngcairo size 800,500 font "sans,12"
if (format eq 'svg') set terminal svg size 800,500 font "sans,12" background rgb "white"
set style data histograms
set style histogram errorbars gap 1 linewidth 1.5
set style fill pattern border lc rgb "black"
set grid ytics
set key top left reverse Left
set xlabel "setting"
set xtics rotate by -20

set output out.'/check.'.format
set title "Price of the permission check (median; bars: all rounds)"
set ylabel "instructions per command,\nabove a kernel without the check"
set yrange [0:*]
set offsets 0, 0, graph 0.2, 0
plot data.'/check' using 2:3:4:xtic(1) title "before" fillstyle pattern 2 linecolor rgb "black", \
     '' using 5:6:7 title "after" fillstyle pattern 0 linecolor rgb "black"

# Points: bars that start at 0 would hide a difference of one per cent.
set output out.'/fio.'.format
set title "fio passthrough, 512-byte random reads (mean ratio; bars: 95 % interval)"
set ylabel "ratio of IOPS by the guest's clock"
set yrange [*:*]
set offsets 0.5, 0.5, graph 0.2, graph 0.1
set style data points
set arrow from graph 0, first 1 to graph 1, first 1 nohead dashtype 2
set xtics ()
plot data.'/fio' using ($0 - 0.1):2:3:4 with yerrorbars pointtype 5 linecolor rgb "black" title "after / before", \
     '' using ($0 + 0.1):5:6:7 with yerrorbars pointtype 4 linecolor rgb "black" title "after / unchecked", \
     '' using 0:2:xtic(1) with points pointtype -1 notitle
