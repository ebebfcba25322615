import Foundation

/// A command's report as JSON for scripts.
struct JSONText {
    let text: String

    init(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        text = String(decoding: data, as: UTF8.self)
    }
}
