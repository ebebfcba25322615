public import Foundation

/// An entry of a log.
public struct LogRecord: Hashable, Sendable {
    /// The location in the source at which a record was written.
    public struct Location: Hashable, Sendable, Codable {
        /// The module, or the type if the caller passes one.
        public var source: String
        /// The function with its argument labels.
        public var function: String
        /// The file, as `Module/File.swift`.
        public var file: String
        /// The line, from 1.
        public var line: UInt

        /// Creates a location.
        public init(source: String, function: String, file: String, line: UInt) {
            self.source = source
            self.function = function
            self.file = file
            self.line = line
        }
    }

    /// The time of the record, with a precision of microseconds.
    public var time: Date
    /// The severity of the record.
    public var severity: LogSeverity
    /// The component that wrote the record: the label of the logger.
    public var tag: String
    /// The message.
    public var message: String
    /// Additional values, by name.
    public var metadata: [String: String]
    /// The location in the source, if it is recorded.
    public var location: Location?
    /// The id of the process that wrote the record.
    public var processID: Int32
    /// The id that relates records, requests and traces: the metadata value of ``correlationKey``.
    public var correlationID: String?

    /// The name of the correlation id in swift-log's metadata.
    public static let correlationKey = "correlation-id"
    /// The maximum length of a message, in bytes of UTF-8 (16 KiB); longer messages are truncated.
    public static let maximumMessageByteCount = 16_384
    /// The maximum number of metadata values. The values are ordered by name, and the rest is omitted.
    public static let maximumMetadataCount = 32
    /// The maximum length of a name or value of metadata, tag or location, in bytes of UTF-8 (1 KiB).
    public static let maximumFieldByteCount = 1024

    /// Creates a record.
    public init(
        time: Date, severity: LogSeverity, tag: String, message: String, metadata: [String: String] = [:],
        location: Location? = nil, processID: Int32 = ProcessInfo.processInfo.processIdentifier,
        correlationID: String? = nil
    ) {
        self.time = time
        self.severity = severity
        self.tag = tag
        self.message = message
        self.metadata = metadata
        self.location = location
        self.processID = processID
        self.correlationID = correlationID
    }
}

extension LogRecord {
    /// Returns the record with every part truncated to its limit, so that one entry cannot fill a log.
    func bounded() -> LogRecord {
        var record = self
        record.message = Self.cut(message, to: Self.maximumMessageByteCount)
        record.tag = Self.cut(tag, to: Self.maximumFieldByteCount)
        record.correlationID = correlationID.map { Self.cut($0, to: Self.maximumFieldByteCount) }
        if !metadata.isEmpty {
            let kept = metadata.sorted { $0.key < $1.key }.prefix(Self.maximumMetadataCount)
            record.metadata = [:]
            for (name, value) in kept {
                let name = Self.cut(name, to: Self.maximumFieldByteCount)
                record.metadata[name] = Self.cut(value, to: Self.maximumFieldByteCount)
            }
        }
        if let location {
            record.location = Location(
                source: Self.cut(location.source, to: Self.maximumFieldByteCount),
                function: Self.cut(location.function, to: Self.maximumFieldByteCount),
                file: Self.cut(location.file, to: Self.maximumFieldByteCount), line: location.line)
        }
        return record
    }

    /// Returns the text, truncated before the character that exceeds the limit. A truncated text ends with an
    /// ellipsis.
    static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let ellipsis = "…"
        var bytes = 0
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > limit - ellipsis.utf8.count { break }
            result.append(scalar)
        }
        return String(result) + ellipsis
    }
}

extension LogRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case time = "t"
        case severity = "s"
        case tag = "c"
        case message = "m"
        case metadata = "d"
        case location = "l"
        case processID = "p"
        case correlationID = "i"
    }

    /// Decodes a stored record, which has short names and the time in microseconds since 1970.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let time = try values.decode(Int64.self, forKey: .time)
        self.init(
            time: Date(timeIntervalSince1970: Double(time) / 1_000_000),
            severity: try values.decode(LogSeverity.self, forKey: .severity),
            tag: try values.decode(String.self, forKey: .tag),
            message: try values.decode(String.self, forKey: .message),
            metadata: try values.decodeIfPresent([String: String].self, forKey: .metadata) ?? [:],
            location: try values.decodeIfPresent(Location.self, forKey: .location),
            processID: try values.decode(Int32.self, forKey: .processID),
            correlationID: try values.decodeIfPresent(String.self, forKey: .correlationID))
    }

    /// Encodes a record for storage.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        // A date outside the range of 64-bit microseconds must not trap.
        let time = (self.time.timeIntervalSince1970 * 1_000_000).rounded()
        try values.encode(Int64(exactly: time) ?? 0, forKey: .time)
        try values.encode(severity, forKey: .severity)
        try values.encode(tag, forKey: .tag)
        try values.encode(message, forKey: .message)
        if !metadata.isEmpty { try values.encode(metadata, forKey: .metadata) }
        try values.encodeIfPresent(location, forKey: .location)
        try values.encode(processID, forKey: .processID)
        try values.encodeIfPresent(correlationID, forKey: .correlationID)
    }
}
