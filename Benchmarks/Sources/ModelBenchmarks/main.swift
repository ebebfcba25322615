import CBareXML
import Foundation
import ODataModel

// Metadata to model, beside libxml2's bare SAX pass over the same bytes. Each round runs both, so that whatever
// else the machine does falls on both; the best round of each counts.
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
let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 30
let clock = ContinuousClock()
var bestPass = Duration.seconds(1000)
var bestModel = Duration.seconds(1000)
for _ in 0..<rounds {
    bestPass = min(bestPass, clock.measure { barePass(bytes) })
    bestModel = min(
        bestModel,
        try clock.measure {
            let model = try CSDLReader.read(xml: bytes)
            precondition(!model.schemas.isEmpty)
        })
}
let ratio = bestModel / bestPass
print("bare SAX pass    \(milliseconds(bestPass)) ms")
print("metadata to model \(milliseconds(bestModel)) ms")
print("ratio \((ratio * 100).rounded() / 100), limit \(limit)")
exit(ratio <= limit ? 0 : 1)

func milliseconds(_ duration: Duration) -> Double { (duration / .microseconds(10)).rounded() / 100 }

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
