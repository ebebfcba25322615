import ODataModel
import ODataService
import TestCorpus

/// A generator of random queries over the sets of a model. Literals are taken from existing rows or are close
/// to their values.
struct ForeignQueries {
    let model: EntityDataModel
    /// The queried sets.
    let sets: [EntitySet]
    /// Some rows of each set.
    let rows: [String: [ODataEntity]]
    var random: SeededGenerator

    init(_ model: EntityDataModel, _ rows: [String: [ODataEntity]], seed: UInt64) {
        self.model = model
        self.rows = rows
        sets = model.container.entitySets.filter { rows[$0.name]?.isEmpty == false }
        random = SeededGenerator(seed: seed)
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &random) }
    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Returns the next query.
    mutating func query() -> String? {
        guard let set = pick(sets), let shape = model.shape(set.type) else { return nil }
        if chance(10), let key = key(set, shape) { return key }
        var options: [String] = []
        if chance(12), let property = property(shape)?.name {
            return "\(set.name)?$apply=groupby((\(property)),aggregate($count as n))&$orderby=\(property)"
        }
        if chance(80), let condition = condition(set.name, shape, depth: 2) { options.append("$filter=\(condition)") }
        if chance(60), let first = property(shape)?.name {
            var order = [first + (chance(50) ? " desc" : "")]
            if chance(30), let second = property(shape)?.name, second != first { order.append(second) }
            options.append("$orderby=\(order.joined(separator: ","))")
        }
        if chance(40) { options.append("$top=\(Int.random(in: 0..<20, using: &random))") }
        if chance(20) { options.append("$skip=\(Int.random(in: 0..<30, using: &random))") }
        if chance(50) { options.append("$count=true") }
        if chance(25), let name = property(shape)?.name { options.append("$select=\(name)") }
        if chance(25), let navigation = pick(shape.navigationProperties) {
            options.append("$expand=\(navigation.name)")
        }
        if !options.contains(where: { $0.hasPrefix("$top") || $0.hasPrefix("$filter") }) { options.append("$top=50") }
        return "\(set.name)?\(options.joined(separator: "&"))"
    }

    private mutating func key(_ set: EntitySet, _ shape: TypeShape) -> String? {
        guard let entity = pick(rows[set.name] ?? []) else { return nil }
        var parts: [String] = []
        for part in shape.key {
            guard let value = entity[part.path], let type = shape.property(part.path)?.type else { return nil }
            var text = literal(value, type)
            if chance(25), case .string(let string) = value { text = "'\(mutated(string).replacing("'", with: "''"))'" }
            parts.append("\(part.name)=\(text)")
        }
        return "\(set.name)(\(parts.joined(separator: ",")))"
    }

    private mutating func property(_ shape: TypeShape) -> Property? {
        pick(shape.properties.filter { $0.type.primitive.map { $0 != .binary && $0 != .stream } ?? false })
    }

    // MARK: Conditions

    private mutating func condition(
        _ set: String, _ shape: TypeShape, depth: Int, prefix: String = ""
    ) -> String? {
        if depth > 0, chance(35) {
            guard let left = condition(set, shape, depth: depth - 1, prefix: prefix),
                let right = condition(set, shape, depth: depth - 1, prefix: prefix)
            else { return nil }
            return chance(15) ? "not (\(left))" : "(\(left) \(chance(50) ? "and" : "or") \(right))"
        }
        if depth > 0, chance(25), let navigation = pick(shape.navigationProperties),
            let target = model.shape(navigation.target),
            let other = model.container.entitySets.first(where: { $0.type == navigation.target })?.name
        {
            if !navigation.isCollection {
                return condition(other, target, depth: 0, prefix: "\(prefix)\(navigation.name)/")
            }
            guard prefix.isEmpty else { return nil }
            if chance(25) { return "\(navigation.name)/$count gt \(Int.random(in: 0..<3, using: &random))" }
            return condition(other, target, depth: 0, prefix: "x/").map { "\(navigation.name)/any(x:\($0))" }
        }
        guard let property = property(shape) else { return nil }
        let path = prefix + property.name
        if chance(8) { return "\(path) \(chance(50) ? "eq" : "ne") null" }
        let value = value(of: property, set)
        if case .string(let text)? = value, chance(45) {
            let part = "'\(part(of: text).replacing("'", with: "''"))'"
            switch Int.random(in: 0..<7, using: &random) {
            case 0: return "startswith(\(path),\(part))"
            case 1: return "endswith(\(path),\(part))"
            case 2: return "contains(\(path),\(part))"
            case 3: return "length(\(path)) \(comparison()) \(text.unicodeScalars.count)"
            case 4: return "indexof(\(path),\(part)) eq 0"
            case 5: return "tolower(\(path)) \(comparison()) \(part)"
            default: return "concat(\(path),'1') \(comparison()) \(part)"
            }
        }
        guard let value else { return "\(path) ne null" }
        if chance(12), let other = self.value(of: property, set) {
            return "\(path) in (\(literal(value, property.type)),\(literal(other, property.type)))"
        }
        return "\(path) \(comparison()) \(literal(value, property.type))"
    }

    private mutating func comparison() -> String { pick(["eq", "ne", "lt", "le", "gt", "ge"]) ?? "eq" }

    private mutating func value(of property: Property, _ set: String) -> ODataValue? {
        let values = (rows[set] ?? []).compactMap { $0[property.name] }.filter { !$0.isNull }
        guard let value = pick(values) else { return nil }
        if case .string(let text) = value, chance(30) { return .string(mutated(text)) }
        return value
    }

    private mutating func part(of text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        let count = Int.random(in: 0...min(3, scalars.count), using: &random)
        var part = ""
        part.unicodeScalars.append(contentsOf: scalars.prefix(count))
        return part
    }

    /// Returns a text that SQLite may consider equal, by numeric value or by collation.
    private mutating func mutated(_ text: String) -> String {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: "0" + text
        case 1: text + " "
        case 2: text.uppercased()
        case 3: text.lowercased()
        case 4: text + ".0"
        default: String(text.dropLast())
        }
    }

    private func literal(_ value: ODataValue, _ type: TypeReference) -> String {
        if case .string(let text) = value { return "'\(text.replacing("'", with: "''"))'" }
        return value.lexicalText ?? "null"
    }
}
