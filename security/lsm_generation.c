// SPDX-License-Identifier: GPL-2.0
/*
 * Generation of the answers to capable(CAP_SYS_ADMIN): see
 * include/linux/lsm_generation.h.
 */
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/limits.h>
#include <linux/lsm_generation.h>
#include <linux/notifier.h>
#include <linux/security.h>
#include <linux/spinlock.h>

unsigned long lsm_gen_word __read_mostly = 1;

/* Protects what follows, and the writes to lsm_gen_word. */
static DEFINE_RAW_SPINLOCK(lsm_gen_lock);
static unsigned long lsm_gen_count = 1;
static unsigned int lsm_gen_held[LSM_GEN_HOLDERS];
static enum lsm_gen_mode lsm_gen_caching = LSM_GEN_ON;

static bool lsm_gen_allowed(void)
{
	if (lsm_gen_held[LSM_GEN_MODULE])
		return false;
	if (lsm_gen_held[LSM_GEN_BPF])
		return lsm_gen_caching == LSM_GEN_WITH_BPF;
	return lsm_gen_caching != LSM_GEN_OFF;
}

/* Every change of the state above, or of policy, starts a new generation. */
static void lsm_gen_publish(void)
{
	unsigned long word = 0;

	lockdep_assert_held(&lsm_gen_lock);

	/* At the end of the numbers nothing is cached: none comes twice. */
	if (lsm_gen_count < ULONG_MAX) {
		lsm_gen_count++;
		if (lsm_gen_allowed())
			word = lsm_gen_count;
	}
	/* Pairs with lsm_gen_sample(): the caller's policy is visible first. */
	smp_store_release(&lsm_gen_word, word);
}

/**
 * lsm_gen_bump - end the validity of every cached answer
 *
 * To be called after a change of policy is visible.
 * Context: any but NMI.
 */
void lsm_gen_bump(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lsm_gen_lock, flags);
	lsm_gen_publish();
	raw_spin_unlock_irqrestore(&lsm_gen_lock, flags);
}

/**
 * lsm_gen_forbid - from now on, answers must not be cached
 * @holder: for whom; calls add up until as many lsm_gen_allow()
 *
 * Also ends the validity of every cached answer.
 * Context: any but NMI.
 */
void lsm_gen_forbid(enum lsm_gen_holder holder)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lsm_gen_lock, flags);
	lsm_gen_held[holder]++;
	lsm_gen_publish();
	raw_spin_unlock_irqrestore(&lsm_gen_lock, flags);
}

/**
 * lsm_gen_allow - take back one lsm_gen_forbid()
 * @holder: for whom
 *
 * To be called after @holder has stopped answering.
 * Context: any but NMI.
 */
void lsm_gen_allow(enum lsm_gen_holder holder)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lsm_gen_lock, flags);
	if (!WARN_ON_ONCE(!lsm_gen_held[holder]))
		lsm_gen_held[holder]--;
	lsm_gen_publish();
	raw_spin_unlock_irqrestore(&lsm_gen_lock, flags);
}

/**
 * lsm_gen_set_mode - choose when answers may be cached
 * @mode: from now on
 *
 * Also ends the validity of every cached answer.
 * Context: any but NMI.
 */
void lsm_gen_set_mode(enum lsm_gen_mode mode)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lsm_gen_lock, flags);
	WRITE_ONCE(lsm_gen_caching, mode);
	lsm_gen_publish();
	raw_spin_unlock_irqrestore(&lsm_gen_lock, flags);
}

/**
 * lsm_gen_get_mode - when may answers be cached?
 *
 * Return: what lsm_gen_set_mode() was last told, LSM_GEN_ON before that.
 */
enum lsm_gen_mode lsm_gen_get_mode(void)
{
	return READ_ONCE(lsm_gen_caching);
}

static int lsm_gen_notify(struct notifier_block *nb, unsigned long event,
			  void *data)
{
	if (event == LSM_POLICY_CHANGE)
		lsm_gen_bump();
	return NOTIFY_DONE;
}

static struct notifier_block lsm_gen_nb = {
	.notifier_call = lsm_gen_notify,
};

static int __init lsm_gen_notifier_init(void)
{
	return register_blocking_lsm_notifier(&lsm_gen_nb);
}
core_initcall(lsm_gen_notifier_init);
