# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "data='DIR'; out='DIR'; format='svg|png'; limit=SECONDS" cycles.gp: the cycles, by requests pending.
if (format eq 'png') set terminal pngcairo size 800,500 font "sans,12"
if (format eq 'svg') set terminal svg size 800,500 font "sans,12" background rgb "white"
set output out.'/cycles.'.format
set title "Registering and unregistering an eventfd (median; bars: all rounds)"
set xlabel "requests pending"
set ylabel "microseconds per cycle"
set logscale y
set yrange [1:limit * 1e7]
set grid ytics
set key below maxrows 2
set offsets 0.5, 0.5, 0, 0
set arrow from graph 0, first limit * 1e6 to graph 1, first limit * 1e6 nohead dashtype 2
set label sprintf("given up after %d s", limit) at graph 0.02, first limit * 1.5e6
plot data.'/before' using ($0 - 0.15):2:3:4 with yerrorbars pointtype 5 linecolor rgb "black" title "before, 1 CPU (guest's clock)", \
     '' using ($0 - 0.05):5:6:7 with yerrorbars pointtype 7 linecolor rgb "black" title "before, 2 CPUs (wall time)", \
     data.'/after' using ($0 + 0.05):2:3:4 with yerrorbars pointtype 4 linecolor rgb "black" title "after, 1 CPU", \
     '' using ($0 + 0.15):5:6:7 with yerrorbars pointtype 6 linecolor rgb "black" title "after, 2 CPUs", \
     '' using 0:2:xtic(1) with points pointtype -1 notitle
