/// Lets through what is known to be harmless, and nothing else: a message that a program has among its own, and metadata of known
/// names whose values pass a test. Where a message is left out, the place in the source where it was written still tells what
/// happened.
///
/// ``SecretRedaction`` looks for what looks like a secret, and so misses what looks like something else. This one is for logs that
/// leave the hands of those whose values they are about.
///
/// ```swift
/// let redaction = KnownTextRedaction(
///     messages: ["begins", "failed"],
///     fields: ["status": KnownTextRedaction.isNumber, "code": KnownTextRedaction.isName])
/// let pipeline = LogPipeline(redaction: redaction, sinks: [log])
/// ```
public struct KnownTextRedaction: LogRedaction {
    /// The longest text that counts as a number or a name, in bytes.
    public static let maximumByteCount = 64

    private let messages: Set<String>
    private let fields: [String: @Sendable (String) -> Bool]

    /// Makes a redaction.
    ///
    /// - Parameters:
    ///   - messages: What a record may say, word for word.
    ///   - fields: The names of metadata that a record may have, each with a test of its value.
    public init(messages: Set<String>, fields: [String: @Sendable (String) -> Bool]) {
        self.messages = messages
        self.fields = fields
    }

    /// The record with ``SecretRedaction/mark`` in place of an unknown message, without unknown metadata, and without a tag or a
    /// correlation id that is no name.
    public func redacted(_ record: LogRecord) -> LogRecord {
        var record = record
        if !messages.contains(record.message) { record.message = SecretRedaction.mark }
        record.metadata = record.metadata.filter { fields[$0.key]?($0.value) == true }
        if !Self.isName(record.tag) { record.tag = SecretRedaction.mark }
        record.correlationID = record.correlationID.flatMap { Self.isName($0) ? $0 : nil }
        return record
    }

    /// Whether a text is a whole number.
    @Sendable public static func isNumber(_ text: String) -> Bool {
        text.utf8.count <= maximumByteCount && Int(text) != nil
    }

    /// Whether a text is a name as programs have them: Latin letters, digits, periods, hyphens and underscores.
    @Sendable public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumByteCount
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
