import CBareXML
import Foundation
import ODataModel

// Metadata to model, beside libxml2's bare SAX pass over the same bytes. Each round runs both, so that whatever
// else the machine does falls on both; processor time counts, and of it the best round of each. A hundred rounds take
// a second and find both bests; with few, what else runs decides.
//
//     ModelBenchmarks FILE [ROUNDS]

/// The limit of the design: metadata to model in at most this many bare passes.
let limit = 3.0

guard let path = CommandLine.arguments.dropFirst().first,
    let bytes = FileManager.default.contents(atPath: path).map({ [UInt8]($0) })
else {
    print("usage: ModelBenchmarks FILE [ROUNDS]")
    exit(2)
}
let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 300
var bestPass = Double.infinity
var bestModel = Double.infinity
for _ in 0..<rounds {
    bestPass = min(bestPass, seconds { barePass(bytes) })
    bestModel = min(
        bestModel,
        try seconds {
            let model = try CSDLReader.read(xml: bytes)
            precondition(!model.schemas.isEmpty)
        })
}
let ratio = bestModel / bestPass
print("bare SAX pass     \(milliseconds(bestPass)) ms")
print("metadata to model \(milliseconds(bestModel)) ms")
let verdict = ratio <= limit ? "holds" : "missed by \(rounded(ratio / limit)) times"
print("metadata to model against a bare pass: \(rounded(ratio)) times, limit \(limit): \(verdict)")
exit(ratio <= limit ? 0 : 1)

/// With two digits behind the point.
func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

func milliseconds(_ seconds: Double) -> Double { rounded(seconds * 1000) }

/// The processor time that work takes, in seconds.
func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = processorTime()
    try work()
    return processorTime() - start
}

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// libxml2's parser with callbacks that do nothing.
func barePass(_ bytes: [UInt8]) {
    var handler = xmlSAXHandler()
    handler.initialized = 0xDEED_BEAF
    handler.startElementNs = { _, _, _, _, _, _, _, _, _ in }
    handler.endElementNs = { _, _, _, _ in }
    handler.characters = { _, _, _ in }
    guard let context = xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else { return }
    defer { xmlFreeParserCtxt(context) }
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))
    bytes.withUnsafeBytes { buffer in
        let chars = buffer.bindMemory(to: CChar.self)
        var offset = 0
        while offset < chars.count, let base = chars.baseAddress {
            let count = min(64 * 1024, chars.count - offset)
            if xmlParseChunk(context, base + offset, Int32(count), 0) != 0 { return }
            offset += count
        }
        xmlParseChunk(context, nil, 0, 1)
    }
}
