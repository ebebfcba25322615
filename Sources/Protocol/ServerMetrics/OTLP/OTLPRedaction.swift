import Foundation
import Supportability
import Tracing

/// Removes secrets from everything that an exporter sends.
struct OTLPRedaction: Sendable {
    /// The maximum length of a name or value, in characters; the rest is cut off.
    static let maxLength = 1024

    let base: any LogRedaction

    /// Returns the attributes without secrets, sorted by name, and the number of those that are left out.
    func attributes(_ attributes: SpanAttributes) -> (kept: [OTLPAttribute], dropped: Int) {
        var all: [(String, SpanAttribute)] = []
        attributes.forEach { all.append(($0, $1)) }
        let kept = all.sorted { $0.0 < $1.0 }.prefix(FinishedSpan.maxParts)
        return (kept.map { attribute($0, OTLPValue($1)) }, all.count - kept.count)
    }

    func attribute(_ name: String, _ value: OTLPValue) -> OTLPAttribute {
        let name = Self.cut(name)
        return OTLPAttribute(key: name, value: redacted(value, of: name))
    }

    /// Returns a value that keeps its type if it holds no secret.
    private func redacted(_ value: OTLPValue, of name: String) -> OTLPValue {
        if case .array(let values) = value {
            return .array(values.prefix(FinishedSpan.maxParts).map { redacted($0, of: name) })
        }
        let text = Self.cut(value.text)
        let record = LogRecord(time: Self.noTime, severity: .info, tag: "", message: "", metadata: [name: text])
        let harmless = base.redacted(record).metadata[name] ?? SecretRedaction.mark
        if harmless == text, !isString(value) { return value }
        return .string(harmless)
    }

    /// Returns a text without secrets, such as the name of a span.
    func text(_ text: String) -> String {
        base.redacted(LogRecord(time: Self.noTime, severity: .info, tag: "", message: Self.cut(text))).message
    }

    private func isString(_ value: OTLPValue) -> Bool {
        if case .string = value { true } else { false }
    }

    private static let noTime = Date(timeIntervalSince1970: 0)

    private static func cut(_ text: String) -> String { String(text.unicodeScalars.prefix(maxLength)) }
}
