import CBareXML
import Foundation
import Measuring
import ODataModel

// Metadata to model, beside libxml2's bare SAX pass over the same bytes. Each round runs both, so that other work on
// the machine affects both. Processor time counts, as the median of each: now and then a pass reports a tenth of the
// usual time, and would decide alone as the best.
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
var passes: [Double] = []
var models: [Double] = []
for _ in 0..<max(1, rounds) {
    passes.append(await Taken.by { barePass(bytes) }.processor)
    models.append(
        try await Taken.by { require(try !CSDLReader.read(xml: bytes).schemas.isEmpty, "an empty model") }.processor)
}
let (pass, model) = (median(passes), median(models))
print(String(format: "bare SAX pass     %.2f ms", pass * 1000))
print(String(format: "metadata to model %.2f ms", model * 1000))
Figure("metadata to model against a bare pass", model / pass).print(atMost: limit)

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
