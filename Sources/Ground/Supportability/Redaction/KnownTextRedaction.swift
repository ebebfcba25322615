/// A redaction that passes only text known to be harmless: the program's own messages, and metadata with known
/// names and valid values. If a message is removed, the record's location in the source still identifies the
/// event.
///
/// ``SecretRedaction`` searches for text that looks like a secret, so it misses secrets in other forms. Use
/// this redaction for logs that are given to people who must not see the logged values.
///
/// ```swift
/// let redaction = KnownTextRedaction(
///     messages: ["begins", "failed"],
///     fields: ["status": KnownTextRedaction.isNumber, "code": KnownTextRedaction.isName])
/// let pipeline = LogPipeline(redaction: redaction, sinks: [log])
/// ```
public struct KnownTextRedaction: LogRedaction {
    /// The maximum length of a number or a name, in bytes.
    public static let maximumByteCount = 64

    private let messages: Set<String>
    private let fields: [String: @Sendable (String) -> Bool]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - messages: The allowed messages, word for word.
    ///   - fields: The allowed names of metadata, each with a test of its value.
    public init(messages: Set<String>, fields: [String: @Sendable (String) -> Bool]) {
        self.messages = messages
        self.fields = fields
    }

    /// Returns the record without unknown content. ``SecretRedaction/mark`` replaces an unknown message and an
    /// invalid tag. Unknown metadata and an invalid correlation id are removed.
    public func redacted(_ record: LogRecord) -> LogRecord {
        var record = record
        if !messages.contains(record.message) { record.message = SecretRedaction.mark }
        record.metadata = record.metadata.filter { fields[$0.key]?($0.value) == true }
        if !Self.isName(record.tag) { record.tag = SecretRedaction.mark }
        record.correlationID = record.correlationID.flatMap { Self.isName($0) ? $0 : nil }
        return record
    }

    /// Returns whether a text is a whole number.
    @Sendable public static func isNumber(_ text: String) -> Bool {
        text.utf8.count <= maximumByteCount && Int(text) != nil
    }

    /// Returns whether a text is an identifier: Latin letters, digits, periods, hyphens and underscores.
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
