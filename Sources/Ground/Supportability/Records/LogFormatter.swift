public import Foundation

/// A conversion of log records to lines of text. An app can provide its own.
public protocol LogFormatter: Sendable {
    /// Returns the line of a record, without a line end.
    func line(of record: LogRecord) -> String
    /// Returns the text before the first record, including line ends.
    func preamble(_ header: LogHeader) -> String
    /// The text after the last record, including line ends.
    var ending: String { get }
}

extension LogFormatter {
    /// Returns an empty text.
    public func preamble(_ header: LogHeader) -> String { "" }
    /// An empty text.
    public var ending: String { "" }
}

/// A formatter with one line per record: `2026-01-31 08:15:30.250 WARNING sync
/// Uploader.send(_:)(Uploader.swift:12) message`.
///
/// The preamble consists of the nine header fields with their labels, and an empty line. Control characters are
/// escaped, so every record is exactly one line.
public struct PlainTextLogFormatter: LogFormatter {
    private let timeZone: TimeZone

    /// - Parameter timeZone: The time zone of the times, which is not printed.
    public init(timeZone: TimeZone = .current) {
        self.timeZone = timeZone
    }

    /// Returns time, severity, tag, location (`-` if missing), message and metadata.
    public func line(of record: LogRecord) -> String {
        var line = "\(time(of: record.time)) \(record.severity.name.uppercased()) "
        line += "\(Self.escaped(record.tag)) \(Self.text(of: record.location)) \(Self.content(of: record))"
        return line
    }

    /// Message, metadata and correlation id.
    static func content(of record: LogRecord) -> String {
        var text = escaped(record.message)
        for (name, value) in record.metadata.sorted(by: { $0.key < $1.key }) {
            text += " \(escaped(name))=\(escaped(value))"
        }
        if let id = record.correlationID { text += " \(LogRecord.correlationKey)=\(escaped(id))" }
        return text
    }

    /// The nine fields, each on its line, and an empty line; a field without a value prints `-`.
    public func preamble(_ header: LogHeader) -> String {
        header.fields.map { "\($0.label): \($0.value.map(Self.escaped) ?? "-")\n" }.joined() + "\n"
    }

    /// `Type.method(File.swift:12)`; the type is the file's name where the source names the module alone.
    static func text(of location: LogRecord.Location?) -> String {
        guard let location else { return "-" }
        let file = location.file.split(separator: "/").last ?? ""
        let type = file.hasSuffix(".swift") ? file.dropLast(6) : Substring(location.source)
        return escaped("\(type).\(location.function)(\(file):\(location.line))")
    }

    /// Returns a time as `2026-01-31 08:15:30.250`.
    func time(of time: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        // Use whole milliseconds, because a calendar would return 249.999… for 250.
        let milliseconds = Int64(exactly: (time.timeIntervalSince1970 * 1000).rounded(.down)) ?? 0
        let seconds = (Double(milliseconds) / 1000).rounded(.down)
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: seconds))
        func digits(_ number: Int?, _ count: Int) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(parts.year, 4))-\(digits(parts.month, 2))-\(digits(parts.day, 2)) "
            + "\(digits(parts.hour, 2)):\(digits(parts.minute, 2)):\(digits(parts.second, 2))."
            + digits(Int(milliseconds - Int64(seconds) * 1000), 3)
    }

    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isControl(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns whether a character is a control character, reverses the text direction, or ends a line in a
    /// viewer.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
            || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}

/// A formatter with one JSON object per record, for programs.
public struct JSONLogFormatter: LogFormatter {
    /// Creates a formatter.
    public init() {}

    private struct Line: Encodable {
        var time: String
        var severity: String
        var tag: String
        var message: String
        var metadata: [String: String]
        var location: LogRecord.Location?
        var processID: Int32
        var correlationID: String?
    }

    /// Returns the record with full field names and its time in UTC.
    public func line(of record: LogRecord) -> String {
        let line = Line(
            time: record.time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            severity: record.severity.name, tag: record.tag, message: record.message, metadata: record.metadata,
            location: record.location, processID: record.processID, correlationID: record.correlationID)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings and numbers cannot fail.
        return (try? encoder.encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
