import ODataModel
import ODataQuery

/// A bound query as lines of text, for people: a clause a line, nested queries indented.
struct QueryOutline {
    /// The lines.
    private(set) var lines: [String] = []

    init(_ query: BoundQuery, _ segments: [BoundSegment]) {
        lines.append("\(StoreReader.name(of: segments)): \(query.shape.name)")
        add(query, indent: "  ")
    }

    private mutating func add(_ query: BoundQuery, indent: String) {
        for transformation in query.apply { add(transformation, indent: indent) }
        for item in query.compute { lines.append("\(indent)compute \(item.name) = \(Self.text(item.expression))") }
        if let search = query.search { lines.append("\(indent)search \(Self.text(search))") }
        if let filter = query.filter { lines.append("\(indent)filter \(Self.text(filter))") }
        if !query.orderBy.isEmpty { lines.append("\(indent)orderby \(Self.text(query.orderBy))") }
        if let skip = query.skip { lines.append("\(indent)skip \(skip)") }
        if let top = query.top { lines.append("\(indent)top \(top)") }
        if query.count { lines.append("\(indent)count") }
        if case .some(let ordinals, let names) = query.projection {
            let shape = query.resultShape
            let own = ordinals.filter(shape.properties.indices.contains).map { shape.properties[$0].name }
            lines.append("\(indent)select \((own + names).joined(separator: ", "))")
        }
        for item in query.expand {
            let levels = item.levels == 1 ? "" : " levels \(item.levels.map(String.init) ?? "max")"
            lines.append(
                "\(indent)expand \(ExpressionCompiler.name(of: item.path + [.dynamic(item.navigation.name)]))\(levels)")
            add(item.query, indent: indent + "  ")
        }
    }

    private mutating func add(_ transformation: BoundTransformation, indent: String) {
        let name = transformation.name
        func nested(_ transformations: [BoundTransformation]) {
            for transformation in transformations { add(transformation, indent: indent + "  ") }
        }
        switch transformation {
        case .identity: lines.append("\(indent)apply \(name)")
        case .nest(let items, _):
            for item in items {
                lines.append("\(indent)apply \(name) \(item.name)")
                nested(item.transformations)
            }
        case .addNested(let path, let items, _):
            for item in items {
                lines.append("\(indent)apply \(name) \(Self.text(path)) as \(item.name)")
                nested(item.transformations)
            }
        case .groupByNode(let grouping, _):
            lines.append("\(indent)apply \(name) nodes of \(grouping.reference.qualifier)")
            nested(grouping.restriction)
            nested(grouping.then)
        case .filter(let condition, _): lines.append("\(indent)apply \(name) \(Self.text(condition))")
        case .search(let search, _): lines.append("\(indent)apply \(name) \(Self.text(search))")
        case .compute(let items, _):
            let text = items.map { "\($0.name) = \(Self.text($0.expression))" }.joined(separator: ", ")
            lines.append("\(indent)apply \(name) \(text)")
        case .orderBy(let items, _): lines.append("\(indent)apply \(name) \(Self.text(items))")
        case .top(let count, _), .skip(let count, _): lines.append("\(indent)apply \(name) \(count)")
        case .ranked(_, let amount, let by, _):
            lines.append("\(indent)apply \(name) \(Self.text(amount)) by \(Self.text(by))")
        case .aggregate(let items, _): lines.append("\(indent)apply \(name) \(Self.text(items))")
        case .groupBy(let paths, let items, _):
            let results = items.isEmpty ? "" : " aggregate \(Self.text(items))"
            lines.append("\(indent)apply \(name) \(paths.map(Self.text).joined(separator: ", "))\(results)")
        case .groupByApplying(let paths, let transformations, _):
            lines.append("\(indent)apply \(name) \(paths.map(Self.text).joined(separator: ", "))")
            nested(transformations)
        case .concat(let branches, _):
            for branch in branches {
                lines.append("\(indent)apply \(name)")
                nested(branch)
            }
        case .expand(let item, _):
            lines.append("\(indent)apply \(name) \(item.navigation.name)")
            add(item.query, indent: indent + "  ")
        case .join(let join, _):
            lines.append("\(indent)apply \(name) \(Self.text(join.path)) as \(join.name)")
            nested(join.then)
        case .hierarchy(let hierarchy, _):
            lines.append("\(indent)apply \(name) \(hierarchy.reference.qualifier)")
            nested(hierarchy.start)
        case .traverse(let traversal, _):
            let order = traversal.isPreorder ? "preorder" : "postorder"
            lines.append("\(indent)apply \(name) \(traversal.reference.qualifier) \(order)")
            nested(traversal.start)
        }
    }

    // MARK: Expressions

    private static func text(_ items: [BoundOrder]) -> String {
        items.map { "\(text($0.expression))\($0.isDescending ? " desc" : "")" }.joined(separator: ", ")
    }

    private static func text(_ items: [BoundAggregate]) -> String {
        items.map { item in
            let operand = item.expression.map(text) ?? "rows"
            let members =
                (item.owner.map { ", once for each \(text($0))" } ?? "")
                + (item.members.map { " over \(text($0.path))" } ?? "")
            let method = item.function?.name ?? item.method.rawValue
            return "\(item.name) = \(method) of \(operand)\(members)"
        }.joined(separator: ", ")
    }

    private static func text(_ path: BoundPath) -> String {
        let steps = ExpressionCompiler.name(of: path.steps)
        if path.variable.identifier == 0 { return steps.isEmpty ? path.variable.name : steps }
        return steps.isEmpty ? path.variable.name : "\(path.variable.name)/\(steps)"
    }

    private static func text(_ search: SearchExpression) -> String {
        switch search {
        case .word(let word): word
        case .phrase(let phrase): "\"\(phrase)\""
        case .not(let inner): "NOT \(text(inner))"
        case .and(let left, let right): "(\(text(left)) AND \(text(right)))"
        case .or(let left, let right): "(\(text(left)) OR \(text(right)))"
        }
    }

    private static func text(_ expressions: [BoundExpression]) -> String {
        expressions.map(text).joined(separator: ", ")
    }

    static func text(_ expression: BoundExpression) -> String {
        switch expression {
        case .constant(let value, let type):
            value.isNull ? "null" : "\(value.lexicalText ?? "…"):\(type)"
        case .path(let path): text(path)
        case .unary(let symbol, let inner, _): "\(symbol.rawValue) \(text(inner))"
        case .binary(let symbol, let left, let right, _): "(\(text(left)) \(symbol.rawValue) \(text(right)))"
        case .membership(let inner, let members): "(\(text(inner)) in (\(text(members))))"
        case .function(let function, let arguments, _): "\(function.rawValue)(\(text(arguments)))"
        case .cast(let inner, let type): "cast(\(text(inner)),\(type))"
        case .isOf(let path, let name): "isof(\(text(path)),\(name))"
        case .isOfValue(let inner, let type): "isof(\(text(inner)),\(type))"
        case .isDefined(let path): "isdefined(\(text(path)))"
        case .any(let path, let variable, let predicate):
            "\(text(path))/any(\(predicate.map { "\(variable.name):\(text($0))" } ?? ""))"
        case .all(let path, let variable, let predicate): "\(text(path))/all(\(variable.name):\(text(predicate)))"
        case .count(let path, _, let filter): "\(text(path))/$count\(filter.map { "($filter=\(text($0)))" } ?? "")"
        case .search(let search, let variable): "search(\(variable.name),\(text(search)))"
        case .list(let members, _): "(\(text(members)))"
        case .aggregate(let path, let item): "\(text(path))/aggregate(\(text([item])))"
        case .custom(let function, let arguments): "\(function.name)(\(text(arguments)))"
        case .hierarchyTest(let test):
            "\(test.kind.rawValue)(\(text(test.reference.nodes)),\(test.reference.qualifier),"
                + "\(text([test.node] + (test.other.map { [$0] } ?? []))))"
        }
    }
}
