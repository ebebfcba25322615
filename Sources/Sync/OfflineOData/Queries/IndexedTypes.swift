import ODataModel

/// Indexes by type, as the older products configure them: `Shop.Customer: City, CompanyName DESC`.
struct IndexedTypes {
    private var lists: [String: [[String]]] = [:]

    /// - Throws: ``OfflineError/unknown(kind:name:)`` for a line that names no type of an entity set, or no property.
    init(_ lines: [String], model: EntityDataModel) throws {
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(Self.trimmed)
            guard parts.count == 2, let type = QualifiedName(parts[0]) else {
                throw OfflineError.unknown(kind: "indexed type", name: line)
            }
            let paths = parts[1].split(separator: ",").map { path -> String in
                let words = path.split(separator: " ").map(String.init)
                guard let name = words.first else { return "" }
                return words.dropFirst().first?.lowercased() == "desc" ? "\(name) desc" : name
            }
            let sets = model.container.entitySets.filter { $0.type == type }
            guard !sets.isEmpty, !paths.isEmpty, !paths.contains("") else {
                throw OfflineError.unknown(kind: "indexed type", name: line)
            }
            for set in sets { lists[set.name, default: []].append(paths) }
        }
    }

    func adding(to indexes: [String: [[String]]]) -> [String: [[String]]] { indexes.merging(lists) { $0 + $1 } }

    private static func trimmed(_ text: Substring) -> String {
        text.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
}
