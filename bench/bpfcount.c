// SPDX-License-Identifier: GPL-2.0
/*
 * bpfcount OBJECT PRICE PIN - attach bpfcount.bpf.o to the LSM hook "capable".
 *
 * PRICE is how often the program's loop turns at each call. The attachment is pinned
 * at PIN, in a BPF file system; removing that file detaches the program.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct bpf_program *prog;
	struct bpf_object *object;
	struct bpf_link *link;
	struct bpf_map *rodata;
	uint32_t price;
	int ret;

	if (argc != 4)
		errx(2, "usage: bpfcount OBJECT PRICE PIN");
	price = strtoul(argv[2], NULL, 0);

	object = bpf_object__open_file(argv[1], NULL);
	if (!object)
		err(1, "%s", argv[1]);
	rodata = bpf_object__find_map_by_name(object, ".rodata");
	if (!rodata || bpf_map__set_initial_value(rodata, &price, sizeof(price)))
		err(1, "%s: no price to set", argv[1]);
	ret = bpf_object__load(object);
	if (ret)
		errx(1, "load: %s", strerror(-ret));
	prog = bpf_object__find_program_by_name(object, "count");
	link = prog ? bpf_program__attach_lsm(prog) : NULL;
	if (!link)
		err(1, "attach: boot with lsm=bpf");
	ret = bpf_link__pin(link, argv[3]);
	if (ret)
		errx(1, "%s: %s", argv[3], strerror(-ret));
	return 0;
}
