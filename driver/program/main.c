/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program `quern`: the table of commands. */
#include <stdio.h>
#include <string.h>

#include "program.h"

static const command commands[] = {
	{"compile",
	 "MODEL [--calib FILE] [-o FOLDER] [options]\n       quern compile MODEL MODEL… [-o "
	 "FOLDER] [options]",
	 "quantize a float model on samples and write integer-only C",
	 "Reads a float model, measures the range of its values on the samples, quantizes it to 8 "
	 "bits and writes C files that need no\n"
	 "heap, no libm and no floating point: NAME.h, NAME.c, NAME_weights.c, NAME_selftest.c and "
	 "NAME.report.json.\n"
	 "The summary goes to stdout, progress to stderr. A model that is integer already is "
	 "emitted as it is.\n"
	 "Samples (--calib) are for float models, unless --stats or --encodings say what they "
	 "would: "
	 "a quantized file needs none.\n\n"
	 "Several models, which need no samples, go into one folder with networks.c, which "
	 "includes "
	 "the C of all and has each kernel once.\n\n"
	 "A node that must stay in float is an error (exit code 3) that names it and the "
	 "reason.\n\n"
	 "example:\n"
	 "  quern compile examples/digits/digits.json --calib examples/digits/calib.npy -o out\n"
	 "  cc -O2 -DDIGITS_SELFTEST_MAIN out/digits.c out/digits_weights.c out/digits_selftest.c "
	 "-o selftest && ./selftest",
	 1, MAX_ARGS, compile_options, cmd_compile},
	{"run", "MODEL [INPUT=]FILE… [-o OUTPUT.npy…] [options]",
	 "run a model of any stage on samples",
	 "Runs the model on every sample: dimension 0 of each input array counts samples. Float "
	 "and integer nodes may be mixed.\n"
	 "Inputs that take codes accept f32 values too, which are quantized first.\n\n"
	 "example:\n"
	 "  quern run examples/digits/digits.json examples/digits/test_x.npy -o probabilities.npy",
	 2, MAX_VALUES + 1, run_options, cmd_run},
	{"eval", "MODEL --data FILE [--labels FILE] [--against MODEL] [--calib FILE] [options]",
	 "accuracy and other figures on samples, float and integer side by side",
	 "Prints figures of the model as it is; with --calib also those of the integer model "
	 "which `compile` makes from it.\n"
	 "What is measured follows from what is given: labels: top1 (--top-k), or auc where there "
	 "is a score; a reference\n"
	 "(--against, --targets): how far the outputs are from it. Codes count as the real values "
	 "that they stand for.\n"
	 "Sums are taken in double, in the order of the samples: any number of threads gives the "
	 "same figures.\n\n"
	 "example:\n"
	 "  quern eval examples/digits/digits.json --calib examples/digits/calib.npy \\\n"
	 "        --data examples/digits/test_x.npy --labels examples/digits/test_y.npy "
	 "--min-accuracy 97\n"
	 "  quern eval examples/digits/digits.json --calib examples/digits/calib.npy --against "
	 "examples/digits/digits.json \\\n"
	 "        --data examples/digits/test_x.npy --min agreement=98 --max max-diff=0.5 --json",
	 1, 1, eval_options, cmd_eval},
	{"calibrate", "MODEL --calib FILE.npy [--shard K/N] [-o FILE.json] [options]",
	 "observe values on samples: statistics for compile, and why a range was chosen",
	 "Runs the float model on samples and remembers what the method wants to know of every "
	 "value. Shards may be observed\n"
	 "anywhere and are added up with quern merge; the ranges are bit for bit those of one run. "
	 "A method of several passes\n"
	 "takes its shards once a pass, with --stats and the sum of the pass before.\n\n"
	 "example:\n"
	 "  quern calibrate examples/digits/digits.json --calib examples/digits/calib.npy "
	 "--method kl --explain conv1.x\n"
	 "  quern calibrate examples/digits/digits.json --calib examples/digits/calib.npy --shard "
	 "1/2 -o s1.json\n"
	 "  quern calibrate examples/digits/digits.json --calib examples/digits/calib.npy --shard "
	 "2/2 -o s2.json\n"
	 "  quern merge s1.json s2.json -o all.json\n"
	 "  quern compile examples/digits/digits.json --stats all.json -o out",
	 1, 1, calibrate_options, cmd_calibrate},
	{"merge", "STATS.json… -o FILE.json", "add up the statistics of shards",
	 "The files come from quern calibrate, with the same model, samples, options and pass, "
	 "each "
	 "with another shard.\n\n"
	 "example:\n"
	 "  for k in 1 2; do quern calibrate examples/digits/digits.json --calib "
	 "examples/digits/calib.npy --shard $k/2 -o s$k.json; done\n"
	 "  quern merge s1.json s2.json -o all.json",
	 1, MAX_ARGS, merge_options, cmd_merge},
	{"opt", "MODEL [--passes=A,B,…] [--emit=ir|json] [-o FILE] [options]",
	 "run passes and print the model in text or JSON form",
	 "Every stage of a model can be printed, saved and started from again. Without --passes "
	 "and --stop-after nothing is changed.\n\n"
	 "example:\n"
	 "  quern opt examples/digits/digits.json --passes=clean,partition,quantize        the "
	 "symbolic graph\n"
	 "  quern opt examples/digits/digits.json --calib examples/digits/calib.npy "
	 "--stop-after=requantize --emit=json -o q.json",
	 1, 1, opt_options, cmd_opt},
	{"import", "MODEL -o FILE [options]", "write a model of another tool as a graph of our own",
	 "Reads an .onnx or .tflite (or any model) and writes its graph: operators, names and "
	 "weights are there to look at and to\nchange, and every other command takes the result. "
	 "docs/importing.md says what is read.\n\n"
	 "example:\n"
	 "  quern import examples/digits/digits.json -o copy.json\n"
	 "  quern inspect copy.json",
	 1, 1, import_options, cmd_import},
	{"export", "MODEL -o FILE [--calib SAMPLES…] [options]",
	 "write a calibrated model as quantized ONNX, or its parameters as AIMET's encodings",
	 "Calibrates a float model and writes it with QuantizeLinear and DequantizeLinear around "
	 "what is quantized, weights as\ncodes. Inputs and outputs keep their shapes. A model "
	 "that is calibrated already is written as it is. A file called\n.json or .encodings gets "
	 "the parameters alone, in the form of AIMET's encodings.\n\n"
	 "example:\n"
	 "  quern export examples/digits/digits.json --calib examples/digits/calib.npy -o "
	 "digits.onnx",
	 1, 1, export_options, cmd_export},
	{"inspect", "MODEL [--svg FILE.svg] [--dot FILE.dot]",
	 "sizes, inputs, outputs and nodes of a model, or its picture",
	 "Colours of the picture: real values, codes, accumulators, casts, constants.\n\n"
	 "example:\n"
	 "  quern inspect examples/digits/digits.json\n"
	 "  quern inspect examples/digits/digits.json --svg digits.svg",
	 1, 1, inspect_options, cmd_inspect},
	{"match", "MODEL PATTERN [options]", "list the values of a model that a pattern matches",
	 "Prints a line for each value that the pattern matches, from the last one up: its name, "
	 "then what has a name in the\npattern. docs/patterns.md is the manual of patterns.\n\n"
	 "example:\n"
	 "  quern match examples/digits/digits.json 'c=conv2d(x, w=const) ?bias_add(_, b=const)'\n"
	 "  quern match examples/digits/digits.json '*(...) : f32[1,?]'\n"
	 "  quern match examples/digits/digits.json 'relu(*) ~> add(*, *)'",
	 2, 2, match_options, cmd_match},
	{"quantize", "MODEL [--explain] [options]",
	 "the symbolic graph of a float model, or which patterns matched where",
	 "Runs clean, partition and quantize, which need no samples, and prints the graph. With "
	 "--explain it prints a table instead:\nfor each match its pattern and the value that it "
	 "gives, then its inputs and symbols, or why it was not taken.\n\n"
	 "example:\n"
	 "  quern quantize examples/digits/digits.json\n"
	 "  quern quantize examples/digits/digits.json --explain --skip first,op:softmax",
	 1, 1, quantize_options, cmd_quantize},
	{"targets", "", "the processors that compile --target knows",
	 "Prints the names and what their C uses. C for generic runs everywhere; C for another "
	 "target computes the same\n"
	 "bytes with its instructions, and runs anywhere with -DQN_PORTABLE, for tests on a "
	 "desk.\n\n"
	 "example:\n"
	 "  quern compile examples/digits/digits.json --calib examples/digits/calib.npy --target "
	 "cortex-m4 -o out",
	 0, 0, targets_options, cmd_targets},
	{"supported-ops", "[--markdown]",
	 "the tables of operators: forms, and what is read of other tools",
	 "The first table says whether an op has a form on f32 values, on signed 8-bit, unsigned "
	 "8-bit and 16-bit codes,\nand whether it is emitted as C. Behind it stand the operators "
	 "of "
	 "ONNX, with the versions of its operator set, and of\nTFLite that are read; an operator "
	 "that is "
	 "read may still have attributes that are refused, with a reason.\n\n"
	 "example:\n"
	 "  quern supported-ops\n"
	 "  quern supported-ops --markdown",
	 0, 0, supported_options, cmd_supported_ops},
};
enum { NCOMMANDS = sizeof commands / sizeof commands[0] };

static void
print_help(FILE *to)
{
	fprintf(to,
		"usage: quern COMMAND …\n\nQuern %s turns trained float networks into integer-only "
		"C for microcontrollers.\n\ncommands:\n",
		qn_version());
	for (int i = 0; i < NCOMMANDS; i++)
		fprintf(to, "  %-13s %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\n`quern COMMAND --help` explains a command with an example.\n"
		    "exit codes: 0 ok, 1 model or data error, 2 usage, 3 unsupported, 4 accuracy "
		    "gate failed, 5 budget exceeded, 70 internal\n\n"
		    "start here:\n"
		    "  quern compile examples/digits/digits.json --calib examples/digits/calib.npy "
		    "-o out\n");
}

static const command *
find(const char *name)
{
	for (int i = 0; i < NCOMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static int
run(int argc, char **argv)
{
	options o;

	if (argc < 2) {
		print_help(stderr);
		return QN_EUSAGE;
	}
	bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		    strcmp(argv[1], "help") == 0;
	if (help && argc == 2) {
		print_help(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("quern %s\n", qn_version());
		return 0;
	}
	const char *name = help ? argv[2] : argv[1]; /* `quern help run` is `quern run --help` */
	const command *c = find(name);
	if (c == NULL) {
		fprintf(stderr, "quern: '%s' is no command\n\n", name);
		print_help(stderr);
		return QN_EUSAGE;
	}
	int err = help ? 0 : options_parse(c, argc - 2, argv + 2, &o);
	if (err != 0)
		return err;
	if (!help && !o.help)
		return c->run(&o);
	options_help(c);
	return 0;
}

/* What was asked for and could not be written is a failure, also when the disk was full only at
 * the end. */
int
main(int argc, char **argv)
{
	static char text
		[1
		 << 16]; /* so that the reason why it cannot be written is that of the flush below */

	(void)setvbuf(stdout, text, _IOFBF, sizeof text);
	signals_catch();
	int code = run(argc, argv);
	bool failed = fflush(stdout) != 0;

	if (code != 0 || (!failed && !ferror(stdout)))
		return code;
	if (failed)
		perror("quern: stdout");
	else
		fprintf(stderr, "quern: stdout: it could not be written\n");
	return 1;
}
