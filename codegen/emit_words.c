/* SPDX-License-Identifier: Apache-2.0 */
/* emit_words.c - how constants are declared: as their elements, or as words of eight bytes, which C
 * compilers read several times as fast.
 *
 *   const int8_t net_fc_w[640] = {12,-7,…          const uint64_t net_fc_w[80] = {QN_W(0x…03f90c),…
 *                                                  #define net_fc_w ((const int8_t *)net_fc_w)
 *
 * The first byte is the lowest one of its word; where a machine has it elsewhere in memory, QN_W turns
 * the word round. */
#include "codegen/emitter.h"

/* Fewer bytes stay as they are. */
enum { LEAST = 64, IN_WORD = 8, IN_LINE = 3 };

bool
qn_emit_in_words(const qn_emitter *e, const qn_constant *c)
{
	return e->words && c->count >= LEAST && (c->type == QN_PLAIN_i8 || c->type == QN_PLAIN_u8);
}

const char *
qn_emit_declared_type(const qn_emitter *e, const qn_constant *c)
{
	return qn_emit_in_words(e, c) ? "uint64_t" : qn_ctype(c->type);
}

size_t
qn_emit_declared_count(const qn_emitter *e, const qn_constant *c)
{
	return qn_emit_in_words(e, c) ? (c->count + IN_WORD - 1) / IN_WORD : c->count;
}

static bool
any(const qn_emitter *e)
{
	for (size_t i = 0; i < e->nconstant; i++)
		if (qn_emit_in_words(e, &e->constant[i]))
			return true;
	return false;
}

/* The first constant's name is a macro already (qn_emit_content_symbol). */
void
qn_emit_word_names(const qn_emitter *e, qn_buf *b)
{
	if (!any(e))
		return;
	qn_buf_puts(b, "/* Bytes that are declared as words. */\n");
	for (size_t i = 0; i < e->nconstant; i++, qn_buf_flush(b)) {
		const qn_constant *c = &e->constant[i];

		if (!qn_emit_in_words(e, c))
			continue;
		if (i == 0)
			qn_buff(b, "#undef %s\n", c->name);
		qn_buff(b, "#define %s ((const %s%s *)%s", c->name, qn_emit_rom(e),
			qn_ctype(c->type), c->name);
		if (i == 0)
			qn_buff(b, "_%08x", (unsigned)e->content);
		qn_buf_puts(b, ")\n");
	}
	qn_buf_putc(b, '\n');
}

void
qn_emit_word_order(const qn_emitter *e, qn_buf *b)
{
	if (!any(e))
		return;
	qn_buf_puts(b, "/* The words below have their first byte lowest. */\n"
		       "#ifndef QN_BIG_ENDIAN\n"
		       "#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)\n"
		       "#define QN_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)\n"
		       "#elif defined(_WIN32) || defined(__little_endian__) || "
		       "(defined(__LITTLE_ENDIAN__) && __LITTLE_ENDIAN__ + 0 != 0)\n"
		       "#define QN_BIG_ENDIAN 0\n"
		       "#else\n"
		       "#error \"define QN_BIG_ENDIAN as 0 or 1, or compile the model with "
		       "--constants numbers\"\n"
		       "#endif\n"
		       "#endif\n"
		       "#if QN_BIG_ENDIAN\n"
		       "#define QN_W2(x) (((x) & 0x00ff00ff00ff00ffu) << 8 | ((x) >> 8 & "
		       "0x00ff00ff00ff00ffu))\n"
		       "#define QN_W4(x) (((x) & 0x0000ffff0000ffffu) << 16 | ((x) >> 16 & "
		       "0x0000ffff0000ffffu))\n"
		       "#define QN_W8(x) ((x) << 32 | (x) >> 32)\n"
		       "#define QN_W(x) QN_W8(QN_W4(QN_W2((uint64_t)(x))))\n"
		       "#else\n"
		       "#define QN_W(x) x\n"
		       "#endif\n\n");
}

void
qn_emit_words(const qn_constant *c, qn_buf *b)
{
	for (size_t i = 0; i < c->count; i += IN_WORD) {
		uint64_t word = 0;

		for (size_t k = 0; k < IN_WORD && i + k < c->count; k++)
			word |= (uint64_t)(uint8_t)qn_tensor_bits64(c->value, (int64_t)(i + k))
				<< 8 * k;
		if (i % (IN_WORD * IN_LINE) == 0) {
			qn_buf_puts(b, i > 0 ? "\n\t" : "\t");
			qn_buf_flush(b);
		}
		qn_buff(b, "QN_W(0x%08x%08x),", (unsigned)(word >> 32),
			(unsigned)(word & UINT32_MAX));
	}
	qn_buf_putc(b, '\n');
}
