# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "data='DIR'; out='DIR'; format='svg|png'" sweep.gp: what is gained, by the check's share of a command.
if (format eq 'png') set terminal pngcairo size 800,500 font "sans,12"
if (format eq 'svg') set terminal svg size 800,500 font "sans,12" background rgb "white"
set output out.'/sweep.'.format
set title "fio passthrough, a BPF program on capable (mean ratio; bars: 95 % interval)"
set xlabel "share of the check in a command of the unpatched kernel, per cent"
set ylabel "ratio of IOPS by the guest's clock"
set xrange [0:60]
set yrange [0.9:2.6]
set grid
set key top left reverse Left
plot 1 / (1 - x / 100) dashtype 2 linecolor rgb "black" title "after / before, if the check cost nothing", \
     data.'/sweep' using 1:2:3:4 with yerrorbars pointtype 5 linecolor rgb "black" title "after / before", \
     '' using 1:5:6:7 with yerrorbars pointtype 4 linecolor rgb "black" title "after / unchecked", \
     '+' using (44.6):(1.804) every ::0::0 with points pointtype 3 pointsize 2 linecolor rgb "black" title "published: 970k to 1750k IOPS"
