import Foundation

extension StoredLog {
    /// The log as text: the nine fields, an empty line, then a line for each entry that is wanted.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func text(
        _ query: LogQuery = LogQuery(), formatter: any LogFormatter = PlainTextLogFormatter()
    ) throws(StoredLogError) -> String {
        var text = ""
        try export(query, formatter) { text += $0 }
        return text
    }

    /// Writes the log as text to a file that only its owner can read, in the place of one of that name.
    ///
    /// - Throws: ``StoredLogError``: `busy`, `system`.
    public func export(
        to path: String, _ query: LogQuery = LogQuery(), formatter: any LogFormatter = PlainTextLogFormatter()
    ) throws(StoredLogError) {
        var bytes: [UInt8] = []
        try export(query, formatter) { bytes += Array($0.utf8) }
        let folder = (path as NSString).deletingLastPathComponent
        try LogFile.replace(path, with: bytes, in: folder.isEmpty ? "." : folder)
    }

    private func export(
        _ query: LogQuery, _ formatter: any LogFormatter, _ output: (String) -> Void
    ) throws(StoredLogError) {
        let header =
            try self.header
            ?? LogHeader(
                systemVersion: "-", appName: "-", appVersion: "-", hardwareVersion: "-", timeZone: "-", language: "-")
        output(formatter.preamble(header))
        for record in try read(query).records { output(formatter.line(of: record) + "\n") }
    }
}
