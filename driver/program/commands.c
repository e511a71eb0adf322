/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - the table of commands. */
#include <stdio.h>
#include <string.h>

#include "program.h"

#define DIGITS "examples/digits/digits.json"
#define CALIB "--calib examples/digits/calib.npy"

const command command_rows[] = {
	{"compile", CMD_COMPILE,
	 "MODEL [--calib FILE] [-o FOLDER] [options]\n"
	 "       quern compile MODEL MODEL… [-o FOLDER] [options]",
	 "quantize a model with calibration data and write integer-only C",
	 "Reads a float model, measures the range of its activations on the samples (post-training "
	 "quantization), quantizes it to 8 bits and writes C files that need no heap, no libm and "
	 "no "
	 "floating point: NAME.h, NAME.c, NAME_weights.c, NAME_io.h, NAME_selftest.c and "
	 "NAME.report.json. "
	 "The "
	 "summary goes to stdout, progress to stderr.\n\n"
	 "A quantized model (an int8 TFLite file, ONNX with QuantizeLinear or QLinear operators) "
	 "keeps its quantization: a quantized file needs none of the calibration options. Ranges "
	 "that are missing in it are calibrated on the samples.\n\n"
	 "Several quantized models, which need no samples, can be compiled into one folder. "
	 "networks.c there includes the C of all of them, with each kernel once.\n\n"
	 "A node that cannot become integer is an error (exit code 3) that names it and the "
	 "reason.",
	 "  quern compile " DIGITS " " CALIB " -o out\n"
	 "  cc -O2 -DDIGITS_SELFTEST_MAIN out/digits.c out/digits_weights.c out/digits_selftest.c "
	 "\\\n"
	 "     -o selftest && ./selftest",
	 1, MAX_ARGS, cmd_compile},
	{"run", CMD_RUN, "MODEL [INPUT=]FILE… [-o OUTPUT.npy]… [options]",
	 "run a model of any stage on samples",
	 "Runs the model on every sample: dimension 0 of each input array counts samples. Float "
	 "and "
	 "integer nodes may be mixed. Quantized inputs accept f32 values too, which are quantized "
	 "first.",
	 "  quern run " DIGITS " examples/digits/test_x.npy -o probabilities.npy", 2,
	 MAX_VALUES + 1, cmd_run},
	{"eval", CMD_EVAL,
	 "MODEL --data FILE [--labels FILE] [--against MODEL] [--calib FILE] [options]",
	 "measure accuracy and other metrics, float and integer side by side",
	 "Prints metrics of the model as it is; with --calib also those of the integer model that "
	 "`compile` makes from it. With labels it measures top1 (--top-k), or auc where there is a "
	 "score; with a reference (--against, --targets) how far the outputs are from it. "
	 "Quantized "
	 "outputs are compared as the float values that they stand for.\n\n"
	 "Sums are taken in double, in the order of the samples: any number of threads gives the "
	 "same metrics.",
	 "  quern eval " DIGITS " " CALIB " \\\n"
	 "        --data examples/digits/test_x.npy --labels examples/digits/test_y.npy "
	 "--min-accuracy 97\n"
	 "  quern eval " DIGITS " " CALIB " \\\n"
	 "        --against " DIGITS " --data examples/digits/test_x.npy \\\n"
	 "        --min agreement=98 --max max-diff=0.5 --json",
	 1, 1, cmd_eval},
	{"analyze", CMD_ANALYZE, "MODEL --calib FILE [--data FILE] [--labels FILE] [options]",
	 "tell which layers cost accuracy when a model is quantized, and what to do",
	 "Quantizes one layer after the other alone, and everything but one, and prints how far "
	 "the network's outputs are from the float ones then, as signal-to-quantization-noise "
	 "ratio (SQNR, dB: higher is better), the worst layer first. A second table explains it: "
	 "clipped values, unused range, outlier channels. Below stands a recipe for the layers "
	 "that cost most, of which each rule was tried: up to 11 times the network is compiled and "
	 "run on the samples.\n\n"
	 "alone: this layer quantized, all others float. weights, inputs: the same for its "
	 "constants or its other operands. here: its own results when all layers are quantized. "
	 "gain: what the network gains when only this layer stays float. loss, won: alone and gain "
	 "in points of accuracy, with --labels, else of agreement with the float model.",
	 "  quern analyze " DIGITS " " CALIB " --weights-type i4\n"
	 "  quern analyze " DIGITS " " CALIB " \\\n"
	 "        --data examples/digits/test_x.npy --labels examples/digits/test_y.npy --html "
	 "page.html",
	 1, 1, cmd_analyze},
	{"validate", CMD_VALIDATE,
	 "FOLDER --data FILE [--labels FILE] [--device COMMAND] [options]",
	 "run an emitted program on a device and compare it with the interpreter",
	 "Gives samples to the program that `compile --validation` wrote into FOLDER, on a device "
	 "that COMMAND stands for (an emulator, a script that talks to a board) or on this "
	 "machine, "
	 "and compares the CRC of every step and the bytes of the outputs with what the "
	 "interpreter computes from the same model. It prints the error of each output, the first "
	 "step that differs with its layers, and with labels the accuracy of both.\n\n"
	 "What differs is exit code 4. docs/validation.md describes what goes over stdin and "
	 "stdout.",
	 "  quern compile " DIGITS " " CALIB " \\\n"
	 "        --validation -o out\n"
	 "  quern validate out --data examples/digits/test_x.npy --labels "
	 "examples/digits/test_y.npy",
	 1, 1, cmd_validate},
	{"tune", CMD_TUNE,
	 "MODEL --calib FILE [--data FILE] [--labels FILE] BUDGET… [-o NAME.recipe.json]",
	 "find the storage of each layer that is most accurate within budgets",
	 "Chooses for each layer how its weights (8, 4 or 2 bits, in blocks or not) and its "
	 "activations (8 or 16 bits) are stored: the most accurate within the budgets, or with "
	 "--min-accuracy the smallest that is accurate enough. What each layer costs is measured "
	 "once; then candidates are compiled as a whole and run on --data (default: the "
	 "calibration data). With --labels accuracy decides, otherwise agreement with the float "
	 "model, or the SQNR of outputs that are not classes.\n\n"
	 "Prints candidates that no other one so far is better than at lower cost, and writes the "
	 "recipe for compile --recipe, these candidates as NAME.front.json, and everything "
	 "measured as NAME.journal.json. When it is stopped, the best recipe so far has been "
	 "written, and the same command continues the search.",
	 "  quern tune " DIGITS " " CALIB " \\\n"
	 "        --data examples/digits/test_x.npy --labels examples/digits/test_y.npy \\\n"
	 "        --max-weights 5K --target cortex-m4 -o digits.recipe.json",
	 1, 1, cmd_tune},
	{"calibrate", CMD_CALIBRATE,
	 "MODEL --calib FILE.npy [--shard K/N] [-o FILE.json] [options]",
	 "collect activation statistics for compile, and explain how a range was chosen",
	 "Runs the float model on samples and records what the calibration method needs to know of "
	 "every activation. Parts of the samples (--shard) may run on several machines; quern "
	 "merge adds "
	 "their statistics, and the ranges are bit for bit those of one run. A method of several "
	 "passes takes its shards "
	 "once a pass, with --stats and the merged statistics of the pass before.\n\n"
	 "Without -o nothing is saved: the command prints a table of the ranges, and --explain "
	 "VALUE "
	 "the histogram of one value.",
	 "  quern calibrate " DIGITS " " CALIB " \\\n"
	 "        --method kl --explain conv1.x\n"
	 "  quern calibrate " DIGITS " " CALIB " \\\n"
	 "        --shard 1/2 -o s1.json\n"
	 "  quern calibrate " DIGITS " " CALIB " \\\n"
	 "        --shard 2/2 -o s2.json\n"
	 "  quern merge s1.json s2.json -o all.json\n"
	 "  quern compile " DIGITS " --stats all.json -o out",
	 1, 1, cmd_calibrate},
	{"merge", CMD_MERGE, "FILE.json… -o FILE.json",
	 "merge the statistics of shards, or the journals of a search",
	 "The files come from quern calibrate, with the same model, samples, options and pass, "
	 "each "
	 "with another shard; or from quern tune --shard, with names that end in .journal.json.",
	 "  for k in 1 2; do\n"
	 "    quern calibrate " DIGITS " " CALIB " \\\n"
	 "          --shard $k/2 -o s$k.json\n"
	 "  done\n"
	 "  quern merge s1.json s2.json -o all.json",
	 1, MAX_ARGS, cmd_merge},
	{"opt", CMD_OPT, "MODEL [--passes=A,B,…] [--emit=ir|json] [-o FILE] [options]",
	 "run passes and print the model as text or JSON",
	 "A model of any stage (float, symbolic, calibrated, integer) can be printed, saved and "
	 "continued from. Without --passes and --stop-after nothing is changed.",
	 "  quern opt " DIGITS " --passes=clean,partition,quantize\n"
	 "  quern opt " DIGITS " " CALIB " \\\n"
	 "        --stop-after=requantize --emit=json -o q.json",
	 1, 1, cmd_opt},
	{"import", CMD_IMPORT, "MODEL -o FILE [options]",
	 "convert an ONNX, TFLite or GGUF model to a graph file",
	 "Reads an .onnx, .tflite or .gguf, a Hugging Face folder (or any model) and writes its "
	 "graph as JSON or text: operators, "
	 "names and weights can be read and changed, and every other command takes the result. "
	 "docs/importing.md lists what is read.",
	 "  quern import " DIGITS " -o copy.json\n"
	 "  quern inspect copy.json",
	 1, 1, cmd_import},
	{"export", CMD_EXPORT, "MODEL -o FILE [--calib SAMPLES…] [options]",
	 "write a calibrated model as quantized ONNX, or its parameters as AIMET encodings",
	 "Calibrates a float model and writes it with QuantizeLinear and DequantizeLinear around "
	 "quantized operators, weights as integers. Inputs and outputs keep their shapes. A model "
	 "that is calibrated already is written as it is; with samples (--calib), values of a "
	 "quantized file that have no range get one. A file with the extension .json or .encodings "
	 "gets the parameters alone, as AIMET encodings.",
	 "  quern export " DIGITS " " CALIB " -o digits.onnx", 1, 1, cmd_export},
	{"inspect", CMD_INSPECT, "MODEL [--json] [--svg FILE.svg] [--dot FILE.dot]",
	 "show sizes, inputs, outputs and nodes of a model, or its graph as an image",
	 "Prints the stage, inputs, outputs and sizes of a model of any stage, then one line for "
	 "each "
	 "node: its name, op, inputs, type, and multiplications (MACs). --json prints the same for "
	 "programs, with the shapes and bytes of inputs and outputs "
	 "(docs/quern-inspect.schema.json).\n\n"
	 "--svg needs Graphviz. Colors in the image: float values, quantized values, accumulators, "
	 "casts, constants.",
	 "  quern inspect " DIGITS "\n"
	 "  quern inspect " DIGITS " --json >digits-facts.json\n"
	 "  quern inspect " DIGITS " --svg digits.svg",
	 1, 1, cmd_inspect},
	{"match", CMD_MATCH, "MODEL PATTERN [options]",
	 "list the values of a model that a pattern matches",
	 "Prints a line for each value that the pattern matches, from the last one up: its name, "
	 "then the named parts of the pattern. docs/patterns.md is the manual of patterns.",
	 "  quern match " DIGITS " 'c=conv2d(x, w=const) ?bias_add(_, b=const)'\n"
	 "  quern match " DIGITS " '*(...) : f32[1,?]'\n"
	 "  quern match " DIGITS " 'relu(*) ~> add(*, *)'",
	 2, 2, cmd_match},
	{"quantize", CMD_QUANTIZE, "MODEL [--explain] [options]",
	 "print the symbolic graph of a float model, or which patterns matched where",
	 "Runs clean, partition and quantize, which need no samples, and prints the graph. With "
	 "--explain it prints a table instead: for each match its pattern and result, then its "
	 "inputs and symbols, or why it was declined.",
	 "  quern quantize " DIGITS "\n"
	 "  quern quantize " DIGITS " --explain --skip first,op:softmax",
	 1, 1, cmd_quantize},
	{"tensors", CMD_TENSORS, "ARCHIVE [--json] [--dump NAME [--plane PLANE] -o FILE.npy]",
	 "list the tensors of an archive, or write one as a NumPy file",
	 "Reads GGUF (.gguf), safetensors (.safetensors, or .index.json of several), IREE "
	 "parameter "
	 "archives (.irpa) and folders of Hugging Face. Prints the properties, then a line for "
	 "each tensor in the order of the file: its name, its layout or element type, its shape "
	 "and its bytes. With --dump the values of one tensor are written: a plain tensor as it "
	 "is, "
	 "a quantized one as f32.\n\n"
	 "docs/archives.md describes the formats, docs/layouts.md layouts and planes.",
	 "  quern tensors examples/digits/digits.safetensors\n"
	 "  quern tensors examples/digits/digits.safetensors --dump conv1.w -o weight.npy",
	 1, 1, cmd_tensors},
	{"convert", CMD_CONVERT,
	 "ARCHIVE RESULT [--to LAYOUT | --split N] [--quant-params FILE.json]",
	 "convert an archive of tensors, or quantize its matrices",
	 "Writes the tensors and properties of an archive to a .gguf, .safetensors or .irpa file. "
	 "With --to every matrix of float or quantized values becomes that layout, by the rounding "
	 "of ggml's reference; vectors and integers stay as they are, and so do matrices whose "
	 "rows a block does not divide, which are listed. A folder of Hugging Face with a language "
	 "model that Quern builds becomes a .gguf as llama.cpp has it, with its vocabulary.\n\n"
	 "A conversion keeps the bits of every value. Where the format of the result cannot, a "
	 "warning says which tensor or property changes, and how.",
	 "  quern convert examples/digits/digits.safetensors small.irpa --to q8_0\n"
	 "  quern convert small.irpa small.gguf",
	 2, 2, cmd_convert},
	{"quantize-tensor", CMD_QUANTIZE_TENSOR,
	 "FILE.npy [--to LAYOUT | --scale S,… --type TYPE …] [-o ARCHIVE]",
	 "quantize one array, and print its planes and its SQNR",
	 "With --to an array becomes a layout, by the rounding of ggml's reference. Without it a "
	 "scaled quantizer computes x * scale + offset, rounded half to even and saturated: one "
	 "scale, with --axis one for each index of an axis, with --block one for each block of a "
	 "row. Without --scale scales are chosen so that the largest magnitude becomes the largest "
	 "quantized value.\n\n"
	 "Prints the planes, the metadata, and the signal-to-quantization-noise ratio (SQNR). "
	 "-o writes the tensor as an archive.",
	 "  quern quantize-tensor examples/digits/calib.npy --axis 0\n"
	 "  quern quantize-tensor examples/digits/calib.npy --scale 127 --type i8 -o calib.irpa",
	 1, 1, cmd_quantize_tensor},
	{"tokens", CMD_TOKENS,
	 "ARCHIVE.gguf [TEXT | TOKENS.npy] [-o FILE.npy | -o FOLDER] [options]",
	 "text as the tokens of a language model and back, or the C that does it",
	 "Prints the tokens of a text file (- is stdin) after the one that begins a text: as "
	 "numbers, or with -o FILE.npy as samples of the model, i32 [count, 1]. Prints the text of "
	 "a NumPy file of tokens. With -o FOLDER alone, writes NAME_tokens.h and NAME_tokens.c, "
	 "whose functions NAME_encode and NAME_decode do the same with integers and no heap.\n\n"
	 "The vocabulary is that of the properties tokenizer.ggml.… of a GGUF file, of the kind "
	 "\"llama\" (SentencePiece: merges by scores) or \"gpt2\" (byte-level BPE: merges by a "
	 "list). Without a text and -o, the command describes it.",
	 "  quern tokens stories.gguf story.txt --sequence 256 -o calib.npy\n"
	 "  quern tokens stories.gguf calib.npy\n"
	 "  quern tokens stories.gguf --name story -o out",
	 1, 2, cmd_tokens},
	{"targets", CMD_TARGETS, "[--json]", "list the processors that compile --target knows",
	 "Prints the names and what their C uses. C for generic runs everywhere; C for another "
	 "target computes the same bytes with its instructions, and runs anywhere with "
	 "-DQN_PORTABLE, for tests on a host. --json prints the list for programs "
	 "(docs/quern-targets.schema.json).",
	 "  quern compile " DIGITS " " CALIB " \\\n"
	 "        --target cortex-m4 -o out",
	 0, 0, cmd_targets},
	{"supported-ops", CMD_SUPPORTED, "[--markdown | --json]",
	 "list the operators: their kernels, and what is read of ONNX and TFLite",
	 "The first table says whether an op has a kernel for f32 values and for signed 8-bit, "
	 "unsigned 8-bit and 16-bit quantized values, and whether it is emitted as C. It is "
	 "followed by the operators of ONNX, with the versions of its operator set, and of TFLite "
	 "that are read; an operator that is read may still have attributes that are refused, with "
	 "a reason. --json prints the same for programs (docs/quern-supported-ops.schema.json).",
	 "  quern supported-ops\n"
	 "  quern supported-ops --markdown",
	 0, 0, cmd_supported_ops},
	{"man", CMD_GENERAL, "[COMMAND]", "print the manual page of a command, for man",
	 "Prints the manual page of quern, or of one of its commands, in the language of man. An "
	 "installed Quern has them as quern(1), quern-compile(1) and so on.",
	 "  quern man compile >quern-compile.1", 0, 1, cmd_man},
	{"completion", CMD_GENERAL, "bash|zsh|fish", "print the completions of a shell",
	 "Prints a script that completes commands, options and their values. An installed Quern "
	 "has "
	 "it where the shell looks for it; otherwise, in bash: source <(quern completion bash)",
	 "  quern completion bash >quern.bash", 1, 1, cmd_completion},
	{0}};

const exit_code exit_codes[] = {
	{QN_OK, "success"},
	{QN_EINVALID, "model or data error"},
	{QN_EUSAGE, "wrong command line"},
	{QN_EUNSUPPORTED, "unsupported"},
	{QN_EACCURACY, "accuracy threshold not met, or a device computes something else"},
	{QN_EBUDGET, "budget exceeded"},
	{QN_EINTERNAL, "internal error"},
	{0, NULL}};

const command *
command_find(const char *name)
{
	for (const command *c = command_rows; c->name != NULL; c++)
		if (strcmp(name, c->name) == 0)
			return c;
	return NULL;
}

int
command_unknown(const char *name)
{
	const char *best = NULL;

	for (const command *c = command_rows; c->name != NULL; c++)
		best = qn_nearer_name(name, best, c->name);
	fprintf(stderr, "quern: unknown command '%s'", name);
	program_suggest(best);
	fprintf(stderr, "try: quern --help\n");
	return QN_EUSAGE;
}
