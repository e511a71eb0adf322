// SPDX-License-Identifier: MIT-0
// embed.cc - Quern inside a C++ program: handles that close themselves, errors as exceptions, the emitted files in
// a map.
//
//   c++ -std=c++14 embed.cc $(pkg-config --cflags --libs quern) -o embed_cc && ./embed_cc
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <quern/graph.h>

namespace
{

// What came from a context ends with it, so models and arrays need no owner of their own; who wants to end them
// earlier gives them one of the same kind.
struct Close {
	void
	operator()(qn_ctx *ctx) const
	{
		qn_close(ctx);
	}
};
using Context = std::unique_ptr<qn_ctx, Close>;
using Files = std::map<std::string, std::string>;

Context
open()
{
	Context ctx(qn_open(nullptr));
	if (!ctx)
		throw std::bad_alloc();
	return ctx;
}

// Turns a status into an exception with the texts of the diagnostics.
void
check(qn_ctx *ctx, qn_status status)
{
	if (status == QN_OK)
		return;
	std::string text = "status " + std::to_string(status);
	for (std::size_t i = 0; i < qn_diag_count(ctx); i++)
		text += std::string("\n") + qn_diag_get(ctx, i).place + ": " +
			qn_diag_get(ctx, i).message;
	qn_diag_clear(ctx);
	throw std::runtime_error(text);
}

qn_array *
array(qn_ctx *ctx, const std::vector<std::int64_t> &shape, const std::vector<float> &data)
{
	qn_array *a = nullptr;
	check(ctx, qn_array_new(ctx, "f32", static_cast<int>(shape.size()), shape.data(),
				data.data(), &a));
	return a;
}

// y = relu(x w + b): attributes and types are text, as in `quern inspect`.
qn_model *
build(qn_ctx *ctx)
{
	qn_model *m = nullptr;
	check(ctx, qn_model_new(ctx, "tiny", &m));
	qn_graph *g = qn_model_main(m);
	const qn_id in[] = {
		qn_add_input(g, "x", "tensor<1x4xf32>"),
		qn_add_const(g, "w",
			     array(ctx, {2, 4}, {0.5F, -0.25F, 1, 0.125F, -1, 0.75F, 0.25F, 0.5F})),
		qn_add_const(g, "b", array(ctx, {2}, {0.1F, -0.2F})),
	};
	const qn_id fc = qn_add_op(g, "dense", "fc", 3, in, nullptr, nullptr);
	const qn_id y = qn_add_op(g, "relu", "y", 1, &fc, nullptr, nullptr);
	check(ctx, qn_add_output(g, "y", y));
	return m;
}

// C++ exceptions must not pass through C: what is thrown here ends here.
int
keep(void *user, const char *name, const char *text, std::size_t n) noexcept
{
	try {
		(*static_cast<Files *>(user))[name].append(text, n);
		return 0;
	} catch (const std::exception &) {
		return 1;
	}
}

Files
compile(qn_ctx *ctx, qn_model *m, qn_array *samples)
{
	qn_compile_opts opts = {}; // zero: the default of every option
	opts.size = sizeof opts;
	opts.calib = &samples;
	opts.ncalib = 1;
	check(ctx, qn_compile(m, &opts));

	Files files;
	qn_emit_opts emit = {};
	emit.size = sizeof emit;
	emit.test = &samples;
	emit.ntest = 1;
	check(ctx, qn_emit_to(m, &emit, keep, &files, nullptr));
	return files;
}

} // namespace

int
main()
{
	try {
		const Context ctx = open();
		std::vector<float> x(100 * 4);
		for (std::size_t i = 0; i < x.size(); i++)
			x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
		qn_model *m = build(ctx.get());
		for (const auto &file : compile(ctx.get(), m, array(ctx.get(), {100, 4}, x)))
			std::printf("#### %s\n%s", file.first.c_str(), file.second.c_str());
	} catch (const std::exception &e) {
		std::fprintf(stderr, "embed: %s\n", e.what());
		return 1;
	}
	return 0;
}
