# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "data='FILE'; out='DIR'; format='svg|png'" host.gp: bench/host's ratios, a row each.
if (format eq 'png') set terminal pngcairo size 900,500 font "sans,12"
if (format eq 'svg') set terminal svg size 900,500 font "sans,12" background rgb "white"
set output out.'/speed.'.format
set title "Speed with the sysctl at 1 / at 0\n(mean of the pairs; bars: 95 % interval)"
set xlabel "ratio of speeds, by the wall clock"
set yrange [*:*] reverse
set offsets graph 0.05, graph 0.05, 0.5, 0.5
set grid xtics
set arrow from first 1, graph 0 to first 1, graph 1 nohead dashtype 2
plot data using 2:0:3:4:ytic(1) with xerrorbars pointtype 5 linecolor rgb "black" notitle
