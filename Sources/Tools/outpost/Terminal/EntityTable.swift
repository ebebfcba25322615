import ODataModel
import ODataQuery

/// Entities as a table: a column for each property that is loaded, and for those of single related entities.
struct EntityTable {
    let model: EntityDataModel
    /// The names that the query selects, in its order; empty for all.
    private let selected: [String]

    init(model: EntityDataModel, url: ODataURL) {
        self.model = model
        selected = url.options.select.compactMap { item in
            if case .path(let path) = item.kind { path.map(\.text).joined(separator: "/") } else { nil }
        }
    }

    mutating func rendered(_ entities: [ODataEntity]) -> TerminalText {
        var columns: [String] = []
        var seen: Set<String> = []
        let rows = entities.map { entity in
            let pairs = pairs(entity)
            for (name, _) in pairs where seen.insert(name).inserted { columns.append(name) }
            return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
        // Where some rows have no related entity, the others' columns say so by being empty.
        let parents = Set(columns.compactMap { name in name.lastIndex(of: "/").map { String(name[..<$0]) } })
        columns.removeAll { parents.contains($0) }
        guard !columns.isEmpty else { return Terminal.dim("no rows") + "\n" }
        var table = Table(columns)
        for row in rows { table.add(columns.map { row[$0] ?? "" }) }
        return table.rendered()
    }

    /// The loaded properties with their text, the selected ones first.
    func pairs(_ entity: ODataEntity) -> [(String, String)] {
        var pairs = properties(of: entity, prefix: "")
        let order = Dictionary(selected.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        if !order.isEmpty {
            // A key that was not asked for is there only to identify the row.
            pairs = pairs.filter { order[$0.0] != nil || $0.0.contains("/") || entity.shape.ordinal(of: $0.0) == nil }
            pairs = pairs.enumerated().sorted {
                (order[$0.element.0] ?? .max, $0.offset) < (order[$1.element.0] ?? .max, $1.offset)
            }.map(\.element)
        }
        return pairs
    }

    private func properties(of entity: ODataEntity, prefix: String) -> [(String, String)] {
        var pairs: [(String, String)] = []
        for (ordinal, property) in entity.shape.properties.enumerated() {
            guard let value = entity.values[ordinal] else { continue }
            pairs.append((prefix + property.name, value.cell(type: property.type, model: model)))
        }
        for (name, value) in entity.dynamicProperties.sorted(by: { $0.key < $1.key }) {
            pairs.append((prefix + name, value.cell(type: nil, model: model)))
        }
        for (name, related) in entity.related.sorted(by: { $0.key < $1.key }) {
            switch related {
            case .none: pairs.append((prefix + name, ""))
            case .one(let other): pairs += properties(of: other, prefix: prefix + name + "/")
            case .many(let others, let count, _):
                pairs.append((prefix + name, Terminal.plural(count.map { Int($0) } ?? others.count, "row")))
            case .references(let ids): pairs.append((prefix + name, ids.joined(separator: " ")))
            }
        }
        return pairs
    }
}
