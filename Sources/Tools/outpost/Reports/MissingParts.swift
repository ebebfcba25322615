import Foundation
import OfflineOData
import ToolLanguage

/// The parts of a service that a clone does not hold, as commands show them.
enum MissingParts {
    /// One part in JSON.
    struct Line: Encodable {
        var name: String
        var query: String?

        init(_ part: MissingPart) {
            name = part.name
            query = part.query
        }
    }

    /// A name for the defining query that brings a part.
    static func queryName(for part: String) -> String {
        part.replacingOccurrences(of: "/", with: "-").replacingOccurrences(of: "$", with: "")
    }

    /// A line for each part, behind a title.
    static func lines(_ parts: [MissingPart], title: TerminalText) -> [TerminalText] {
        guard !parts.isEmpty else { return [] }
        return ["\(title), with the query that brings it:"]
            + parts.map { part in
                guard let query = part.query else { return "    \(part.name): no query can bring it" }
                return
                    "    \(part.name): \("\(queryName(for: part.name))=\(query)".shellQuoted)\(part.needsStreams ? " --streams" : "")"
            }
    }
}
