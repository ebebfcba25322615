import Foundation

extension StoredLog {
    /// The log as text: the nine fields, an empty line, then a line for each entry that is wanted.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func text(
        _ query: LogQuery = LogQuery(), formatter: any LogFormatter = PlainTextLogFormatter()
    ) throws(StoredLogError) -> String {
        try text(try read(query).records, formatter)
    }

    /// Writes the log as text to a file that only its owner can read, in the place of one of that name. A link leads to
    /// the file that is replaced; a pipe or a device takes the text and stays.
    ///
    /// - Parameter isPacked: whether the file is packed with gzip (RFC 1952).
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func export(
        to path: String, _ query: LogQuery = LogQuery(), formatter: any LogFormatter = PlainTextLogFormatter(),
        isPacked: Bool = false
    ) throws(StoredLogError) {
        try export(try read(query).records, to: path, formatter: formatter, isPacked: isPacked)
    }

    /// Writes entries that somebody picked, such as those of ``read(_:)``, with the header; as
    /// ``export(to:_:formatter:isPacked:)`` does.
    public func export(
        _ records: [LogRecord], to path: String, formatter: any LogFormatter = PlainTextLogFormatter(),
        isPacked: Bool = false
    ) throws(StoredLogError) {
        let bytes = Array(try text(records, formatter).utf8)
        switch FileTarget(path) {
        case .file(let path):
            try LogFile.replace(path, with: bytes, in: FileTarget.folder(of: path), isPacked: isPacked)
        case .stream(let path):
            let stream = try LogFile(streamAt: path)
            if isPacked { try stream.appendPacked(bytes) } else { try stream.append(bytes) }
        }
    }

    private func text(_ records: [LogRecord], _ formatter: any LogFormatter) throws(StoredLogError) -> String {
        let header =
            try self.header
            ?? LogHeader(
                systemVersion: "-", appName: "-", appVersion: "-", hardwareVersion: "-", timeZone: "-", language: "-")
        let lines = records.map { formatter.line(of: $0) + "\n" }
        return formatter.preamble(header) + lines.joined() + formatter.ending
    }
}
