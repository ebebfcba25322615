import ODataModel
import ODataQuery

/// The columns of entities in a table: one for each property that is loaded, and for those of single related entities.
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
