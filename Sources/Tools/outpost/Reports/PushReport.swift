import OfflineOData
import Synchronization
import ToolLanguage

/// The result of a push.
struct PushReport: Encodable {
    var accepted: [RequestLine]
    /// The changes that '--on-conflict theirs' gave up.
    var givenUp: [RequestLine]
    var failed: [RequestLine]
    var waiting: [RequestLine]

    init(_ report: UploadReport) {
        accepted = report.accepted.map { request in
            var line = RequestLine(request, settledAs: "accepted")
            line.newEntity = report.assignedKeys[request.id].map(request.entityText(under:))
            return line
        }
        givenUp = report.givenUp.map { RequestLine($0, settledAs: "givenUp") }
        failed = report.failed.map(RequestLine.init)
        waiting = report.waiting.map(RequestLine.init)
    }

    /// Prints the result.
    ///
    /// - Parameters:
    ///   - directory: the directory of the clone.
    ///   - archived: the number of changes in the error archive, which are not sent again automatically.
    static func show(_ report: UploadReport, of directory: String, archived: Int = 0) {
        let changes = "outpost changes \(directory.shellQuoted)"
        guard !report.isEmpty else {
            let waiting: TerminalText =
                archived == 0 ? "" : " \(Terminal.plural(archived, "change")) in the error archive: \(changes) --failed"
            print("Nothing to push.\(waiting)")
            return
        }
        var lines: [TerminalText] = report.accepted.map { request in
            let key: TerminalText =
                report.assignedKeys[request.id].map { " as \(request.entityText(under: $0))" } ?? ""
            return "\(Terminal.green("accepted")) \(RequestLine.text(request, isSettled: true))\(key)"
        }
        lines += report.givenUp.map { "\(Terminal.yellow("given up")) \(RequestLine.text($0, isSettled: true))" }
        let doubts = report.failed.filter { $0.state == .inDoubt }
        let refused = report.failed.filter { $0.state != .inDoubt }
        let label: TerminalText = "refused"
        lines += refused.map { "\(Terminal.red(label))  \(RequestLine.text($0))" }
        lines += doubts.map { "\(Terminal.yellow("unclear"))  \(RequestLine.text($0))" }
        lines += report.waiting.map { "\(Terminal.yellow("waiting"))  \(RequestLine.text($0))" }
        let givenUp: TerminalText =
            report.givenUp.isEmpty ? "" : ", \(Terminal.number(report.givenUp.count)) given up"
        let inDoubt: TerminalText = doubts.isEmpty ? "" : "\(Terminal.number(doubts.count)) in doubt, "
        lines.append(
            """
            Pushed \(Terminal.plural(report.accepted.count, "change")), \
            \(Terminal.number(refused.count)) refused, \(inDoubt)\
            \(Terminal.number(report.waiting.count)) waiting\(givenUp).
            """)
        if report.waiting.contains(where: { $0.failure != nil }) {
            lines.append(
                Terminal.dim("The service does not take a locked change for now. The next push sends it again."))
        }
        if refused.contains(where: { !$0.isConflict }) {
            lines.append(
                Terminal.dim("Mend a refused change by editing its entity again, or see: \(changes) --failed"))
        }
        if refused.contains(where: \.isConflict) {
            lines.append(Terminal.dim("See both versions of a conflict, and decide: \(changes) --conflicts"))
        }
        if !doubts.isEmpty {
            lines.append(
                Terminal.dim(
                    "Nobody knows yet whether the service made a change in doubt. Settle it: \(changes) --doubts"))
        }
        // One text, in place of the line of progress.
        Terminal.write(lines.joined(separator: "\n") + "\n")
    }
}

extension UploadReport {
    /// Whether the report is empty.
    var isEmpty: Bool { accepted.isEmpty && givenUp.isEmpty && failed.isEmpty && waiting.isEmpty }
}

/// Keeps the result of an upload that ended early, because its error does not contain the result.
final class EarlyEnd: OfflineStoreDelegate {
    private let stored = Mutex<UploadReport?>(nil)

    /// The result; `nil` if no upload ended early with a result.
    var report: UploadReport? { stored.withLock { $0 }.flatMap { $0.isEmpty ? nil : $0 } }

    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport) {
        stored.withLock { $0 = report }
    }
}

extension Failure {
    /// Describes the failure of a command that had sent changes before, with the refused ones.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - sent: the result before the error.
    ///   - subject: the subject of the command.
    init(_ error: any Error, behind sent: UploadReport, of subject: CommandSubject) {
        self.init(error, of: subject)
        guard !sent.failed.isEmpty else { return }
        status = .someRefused
        let count = Terminal.plural(sent.failed.count, "change")
        let verb: TerminalText = sent.failed.count == 1 ? "was" : "were"
        let refused: TerminalText = "\(count) \(verb) refused before that: outpost changes DIR --failed"
        advice = [advice, subject.filled(refused)].compactMap { $0 }.joined(separator: "\n")
    }
}
