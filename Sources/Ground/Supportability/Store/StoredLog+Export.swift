import Foundation

extension StoredLog {
    /// Returns the log as text: the nine header fields, an empty line, and a line for each matching entry.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func text(
        _ query: LogQuery = LogQuery(), formatter: any LogFormatter = PlainTextLogFormatter()
    ) throws(StoredLogError) -> String {
        try text(try read(query).records, formatter)
    }

    /// Writes the log as text to a file that only its owner can read, and replaces an existing file. A link is
    /// followed to the file that is replaced. A pipe or a device is written to and not replaced.
    ///
    /// - Parameter isPacked: Whether to compress the file with gzip (RFC 1952).
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func export(
        to path: String, _ query: LogQuery = LogQuery(), formatter: any LogFormatter = PlainTextLogFormatter(),
        isPacked: Bool = false
    ) throws(StoredLogError) {
        try export(try read(query).records, to: path, formatter: formatter, isPacked: isPacked)
    }

    /// Writes selected entries, such as those of ``read(_:)``, with the header, in the same way as
    /// ``export(to:_:formatter:isPacked:)``.
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
