import ODataModel
import ODataQuery

/// A bound query as text for display: one line for each clause, with nested queries indented.
struct QueryOutline {
    private(set) var lines: [String] = []

    init(_ query: BoundQuery, _ segments: [BoundSegment]) {
        lines.append("\(StoreReader.name(of: segments)): \(query.shape.name)")
        add(query, indent: "  ")
    }

    private mutating func add(_ query: BoundQuery, indent: String) {
        add(query.apply, indent: indent)
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
        func header(_ text: String = "") {
            lines.append("\(indent)apply \(transformation.name)\(text.isEmpty ? "" : " ")\(text)")
        }
        switch transformation {
        // Each sequence has its own line.
        case .concat(let branches, _):
            for branch in branches {
                header()
                add(branch, indent: indent + "  ")
            }
        case .nest(let items, _):
            for item in items {
                header(item.name)
                add(item.transformations, indent: indent + "  ")
            }
        case .addNested(let path, let items, _):
            for item in items {
                header("\(Self.text(path)) as \(item.name)")
                add(item.transformations, indent: indent + "  ")
            }
        default:
            header(Self.summary(transformation))
            for child in transformation.children {
                switch child {
                case .transformation(let inner): add([inner], indent: indent + "  ")
                case .expand(let item): add(item.query, indent: indent + "  ")
                default: continue
                }
            }
        }
    }

    private mutating func add(_ transformations: [BoundTransformation], indent: String) {
        for transformation in transformations { add(transformation, indent: indent) }
    }

    /// Returns the arguments of a transformation, without the sequences within it.
    private static func summary(_ transformation: BoundTransformation) -> String {
        switch transformation {
        case .identity, .concat, .nest, .addNested: ""
        case .groupByNode(let grouping, _): "nodes of \(grouping.reference.qualifier)"
        case .filter(let condition, _): text(condition)
        case .search(let search, _): text(search)
        case .compute(let items, _): items.map { "\($0.name) = \(text($0.expression))" }.joined(separator: ", ")
        case .orderBy(let items, _): text(items)
        case .top(let count, _), .skip(let count, _): "\(count)"
        case .ranked(_, let amount, let rank, _): "\(text(amount)) by \(text(rank))"
        case .aggregate(let items, _): text(items)
        case .groupBy(let paths, let items, _):
            paths.map(text).joined(separator: ", ") + (items.isEmpty ? "" : " aggregate \(text(items))")
        case .groupByApplying(let paths, _, _): paths.map(text).joined(separator: ", ")
        case .expand(let item, _): item.navigation.name
        case .join(let join, _): "\(text(join.path)) as \(join.name)"
        case .hierarchy(let hierarchy, _): hierarchy.reference.qualifier
        case .traverse(let traversal, _):
            "\(traversal.reference.qualifier) \(traversal.isPreorder ? "preorder" : "postorder")"
        }
    }

    // MARK: Expressions

    static func text(_ items: [BoundOrder]) -> String {
        items.map { "\(text($0.expression))\($0.isDescending ? " desc" : "")" }.joined(separator: ", ")
    }

    static func text(_ items: [BoundAggregate]) -> String {
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

    private static func text(_ subquery: BoundSubquery) -> String {
        switch subquery {
        case .exists(let selection): "exists(\(SelectionOutline(selection).line))"
        case .value(let selection): "(\(SelectionOutline(selection).line))"
        case .contains(let value, _, let selection): "\(text(value)) in (\(SelectionOutline(selection).line))"
        }
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
        case .subquery(let subquery): text(subquery)
        }
    }
}
