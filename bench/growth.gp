# SPDX-License-Identifier: GPL-2.0
# gnuplot -e "data='DIR'; out='DIR'; format='svg|png'" growth.gp: the check's price by batch, depth and number of rings.
if (format eq 'png') set terminal pngcairo size 1000,450 font "sans,12"
if (format eq 'svg') set terminal svg size 1000,450 font "sans,12" background rgb "white"
set output out.'/growth.'.format
set multiplot layout 1,3 title "Price of the permission check, SELinux (median; bars: all rounds)"
set logscale x 2
set yrange [-10:*]
set offsets graph 0.08, graph 0.08, graph 0.25, 0
set grid ytics
set key top right
set ylabel "instructions per command,\nabove a kernel without the check"
array xlabels = ["commands per submission", "other requests pending", "rings that take turns"]
do for [i = 0:2] {
	set xtics 1, (i == 0 ? 2 : 4)
	set xlabel xlabels[i + 1]
	plot data.'/growth' index i using 1:2:3:4 with yerrorbars pointtype 5 linecolor rgb "black" title "before", \
	     '' index i using 1:5:6:7 with yerrorbars pointtype 4 linecolor rgb "black" title "after"
}
unset multiplot
