import ODataModel
import OfflineOData
import ToolLanguage

/// The result of a pull.
struct PullReport: Encodable {
    struct Query: Encodable {
        var name: String
        var method: String
        var received: Int
        var inserted: Int
        var updated: Int
        var removed: Int
    }

    /// The result of reading the metadata again.
    struct Metadata: Encodable {
        var differences: [String]
        var refused: [String]
        var isRebuilt: Bool
    }

    var queries: [Query]
    var rows: Int
    var bytes: Int64
    /// The unreadable values.
    var unreadable: [UnreadableReport]
    var metadata: Metadata?
    /// The differences between the metadata of the service and those of the clone.
    var differences: [String] = []

    init(_ report: DownloadReport, bytes: Int64, refresh: MetadataRefresh? = nil) {
        metadata = refresh.map {
            Metadata(
                differences: $0.differences.map(\.description), refused: $0.refused, isRebuilt: $0.isRebuilt)
        }
        queries = report.queries.map {
            Query(
                name: $0.name, method: $0.method.rawValue, received: $0.received, inserted: $0.inserted,
                updated: $0.updated, removed: $0.removed)
        }
        rows = report.received
        unreadable = report.unreadable.map(UnreadableReport.init)
        self.bytes = bytes
    }

    /// Prints the result.
    ///
    /// - Parameters:
    ///   - differences: the differences between the metadata of the service and those of the clone.
    ///   - directory: the directory of the clone.
    static func show(
        _ report: DownloadReport, bytes: Int64, _ differences: [ModelDifference], of directory: String
    ) {
        for query in report.queries where query.received > 0 {
            print(
                "\(query.name): \(Terminal.plural(query.received, "row")) received "
                    + Terminal.dim("(\(query.inserted) new, \(query.updated) changed, \(query.removed) removed)"))
        }
        print("Pulled \(Terminal.plural(report.received, "row")), \(Terminal.bytes(bytes)).")
        for line in UnreadableReport.lines(report.unreadable, of: directory) { print(line) }
        guard let first = differences.first else { return }
        let more: TerminalText = differences.count == 1 ? "" : " and \(Terminal.number(differences.count - 1)) more"
        print("The service has changed: \(first.text)\(more)")
        print("Apply its changes: outpost pull \(directory.shellQuoted) --metadata")
    }
}
