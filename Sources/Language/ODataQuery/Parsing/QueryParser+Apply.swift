import ODataModel

/// Parsing of `$apply` (OData Data Aggregation 4.0, 3; its ABNF, section 2).
extension QueryParser {
    /// Parses transformations separated by slashes.
    mutating func transformations() throws(QueryError) -> [Transformation] {
        var items: [Transformation] = []
        repeat {
            items.append(try transformation())
            try node(height: 1)
        } while take("/")
        return items
    }

    private mutating func transformation() throws(QueryError) -> Transformation {
        let start = position
        let name = try qualifiedName(expected: "a transformation")
        if name.text == "identity", current != UInt8(ascii: "(") { return .identity }
        guard take("(") else { throw failure(expected: "\u{201C}(\u{201D}") }
        try enter()
        defer { leave() }
        if name.text.contains(".") {
            skipSpace()
            var tallest = 0
            if take(")") { return .custom(name, []) }
            guard let arguments = try namedArguments(&tallest) else {
                throw failure(expected: "parameters with their names")
            }
            return .custom(name, arguments)
        }
        skipSpace()
        let result: Transformation
        switch name.text {
        case "aggregate": result = .aggregate(try list { parser throws(QueryError) in try parser.aggregateItem() })
        case "groupby": result = try groupBy()
        case "filter": result = .filter(try expression())
        case "orderby": result = .orderBy(try orderItems())
        case "search": result = try searchExpression().map { .search($0) } ?? .identity
        case "compute": result = .compute(try computeItems())
        case "top": result = .top(try numberArgument())
        case "skip": result = .skip(try numberArgument())
        case "topcount", "topsum", "toppercent", "bottomcount", "bottomsum", "bottompercent":
            let amount = try expression()
            guard takeSeparator(",") else { throw failure(expected: "\u{201C},\u{201D} and the ranked value") }
            result = .ranked(name.text, amount, try expression())
        case "concat":
            let sequences = try list { parser throws(QueryError) in try parser.transformations() }
            guard sequences.count > 1 else { throw failure(expected: "\u{201C},\u{201D} and another transformation") }
            result = .concat(sequences)
        case "expand": result = try expandTransformation()
        case "join", "outerjoin": result = try join(isOuter: name.text == "outerjoin")
        case "nest": result = .nest(try list { parser throws(QueryError) in try parser.nestItem() })
        case "addnested":
            let path = try applyPath()
            guard takeSeparator(",") else { throw failure(expected: "\u{201C},\u{201D} and transformations") }
            result = .addNested(path, try list { parser throws(QueryError) in try parser.nestItem() })
        case "ancestors", "descendants": result = .hierarchy(name.text, try hierarchyArguments())
        case "traverse": result = .traverse(try traverseArguments())
        default:
            position = start
            throw failure(
                expected: "a transformation such as filter, groupby, aggregate or compute",
                among: Self.transformationNames)
        }
        try close()
        return result
    }

    private static let transformationNames =
        [
            "aggregate", "groupby", "filter", "orderby", "search", "compute", "top", "skip", "concat", "expand", "join",
            "outerjoin", "nest", "addnested", "ancestors", "descendants", "traverse", "identity",
        ] + RankedMethod.allCases.map(\.rawValue)

    private mutating func list<Item>(
        _ item: (inout QueryParser) throws(QueryError) -> Item
    ) throws(QueryError) -> [Item] {
        var items: [Item] = []
        repeat { items.append(try item(&self)) } while takeSeparator(",")
        return items
    }

    private mutating func numberArgument() throws(QueryError) -> CommonExpression {
        let start = offset
        return .literal(Literal(.integer(Int64(try wholeNumber())), at: start))
    }

    /// Parses a path of names.
    private mutating func applyPath() throws(QueryError) -> [Identifier] {
        var path: [Identifier] = []
        repeat {
            path.append(
                current == UInt8(ascii: "@") ? try atName() : try qualifiedName(expected: "a property or a type"))
            guard path.count <= QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "A path has more than \(QueryLimits.maxDepth) steps.", offset: offset)
            }
        } while take("/")
        return path
    }

    // MARK: aggregate

    /// Parses an item of `aggregate`: `expression with method [from …] as name`, `[path/]$count as name`, or a
    /// custom aggregate. Within an expression the item has no name.
    mutating func aggregateItem(isNamed: Bool = true) throws(QueryError) -> AggregateItem {
        let operand = try aggregateOperand()
        var from: [AggregateItem.FromItem] = []
        while try takeSpacedWord("from") {
            let paths = try list { parser throws(QueryError) in try parser.applyPath() }
            let method = try takeSpacedWord("with") ? try aggregateMethod() : nil
            if method == nil {
                guard case .custom = operand else { throw failure(expected: "\u{201C}with\u{201D} and a method") }
            }
            from.append(AggregateItem.FromItem(path: paths[0], others: Array(paths.dropFirst()), method: method))
        }
        guard isNamed else { return AggregateItem(operand, from: from, as: nil) }
        if try takeSpacedWord("as") { return AggregateItem(operand, from: from, as: try name()) }
        if case .custom = operand, from.isEmpty { return AggregateItem(operand, as: nil) }
        throw failure(expected: "\u{201C}as\u{201D} and a name")
    }

    private mutating func aggregateOperand() throws(QueryError) -> AggregateItem.Operand {
        let start = position
        if isNext("$count") {
            position += 6
            try node()
            return .count(path: [])
        }
        let operand = try expression()
        if try takeSpacedWord("with") { return .expression(operand, with: try aggregateMethod()) }
        // An item without a method is a count or a custom aggregate, which are both plain paths.
        guard case .path(let steps) = operand else {
            throw failure(expected: "an operator, or \u{201C}with\u{201D} and a method")
        }
        var names: [Identifier] = []
        for (index, step) in steps.enumerated() {
            switch step {
            case .name(let name): names.append(name)
            case .count(nil, nil) where index == steps.count - 1: return .count(path: names)
            default: throw failure(expected: "an operator, or \u{201C}with\u{201D} and a method")
            }
        }
        return .custom(
            Identifier(names.map(\.text).joined(separator: "/"), at: source.offset(at: start)))
    }

    private mutating func aggregateMethod() throws(QueryError) -> Identifier {
        let start = position
        let method = try qualifiedName(expected: "an aggregation method")
        if method.text.contains(".") || ["sum", "min", "max", "average", "countdistinct"].contains(method.text) {
            return method
        }
        position = start
        throw failure(
            expected: "sum, min, max, average, countdistinct or a qualified method",
            among: ["sum", "min", "max", "average", "countdistinct"])
    }

    // MARK: groupby

    private mutating func groupBy() throws(QueryError) -> Transformation {
        try require("(")
        skipSpace()
        let items = try list { parser throws(QueryError) in try parser.groupItem() }
        try close()
        guard takeSeparator(",") else { return .groupBy(items, then: []) }
        return .groupBy(items, then: try transformations())
    }

    private mutating func groupItem() throws(QueryError) -> GroupItem {
        if isNext("rollup(") {
            position += 7
            skipSpace()
            let paths = try list { parser throws(QueryError) in
                guard parser.isNext("$all") else { return Optional(try parser.applyPath()) }
                parser.position += 4
                return nil
            }
            try close()
            return .rollup(paths)
        }
        if isNext("rolluprecursive(") {
            position += 16
            skipSpace()
            let (root, qualifier, node) = try hierarchyReference()
            let restriction = takeSeparator(",") ? try transformations() : []
            try close()
            return .recursiveRollup(
                .init(root: root, qualifier: qualifier, node: node, restriction: restriction))
        }
        return .path(try applyPath())
    }

    // MARK: join, nest, expand

    private mutating func join(isOuter: Bool) throws(QueryError) -> Transformation {
        let path = try applyPath()
        guard try takeSpacedWord("as") else { throw failure(expected: "\u{201C}as\u{201D} and a name") }
        let name = try name()
        let then = takeSeparator(",") ? try transformations() : []
        return .join(path, as: name, then: then, outer: isOuter)
    }

    private mutating func nestItem() throws(QueryError) -> Transformation.NestItem {
        let inner = try transformations()
        guard try takeSpacedWord("as") else {
            throw failure(expected: "\u{201C}/\u{201D}, or \u{201C}as\u{201D} and a name")
        }
        return Transformation.NestItem(inner, as: try name())
    }

    /// Parses `expand(path,filter(…),expand(…))` of early drafts of the specification.
    ///
    /// The syntax tree stores only a filter as a nested transformation. Nested expands become options of the item.
    private mutating func expandTransformation() throws(QueryError) -> Transformation {
        var item = ExpandItem(path: try applyPath())
        var filter: CommonExpression?
        while takeSeparator(",") {
            let start = position
            switch try transformation() {
            case .filter(let condition) where filter == nil: filter = condition
            case .expand(var inner, let condition):
                inner.options.filter = condition
                item.options.expand.append(inner)
            default: throw failure("Expected one filter(…) or expand(…).", at: start)
            }
        }
        return .expand(item, filter: filter)
    }

    // MARK: Hierarchies

    private mutating func hierarchyReference() throws(QueryError) -> (CommonExpression, Identifier, [Identifier]) {
        guard isNext("$root/") else { throw failure(expected: "a path that starts with $root/") }
        let root = try variablePath()
        guard takeSeparator(",") else { throw failure(expected: "\u{201C},\u{201D} and the hierarchy's qualifier") }
        let qualifier = try name(expected: "the hierarchy's qualifier")
        guard takeSeparator(",") else {
            throw failure(expected: "\u{201C},\u{201D} and the path of the node's identifier")
        }
        return (root, qualifier, try applyPath())
    }

    private mutating func hierarchyArguments() throws(QueryError) -> Transformation.HierarchyArguments {
        let (root, qualifier, node) = try hierarchyReference()
        guard takeSeparator(",") else { throw failure(expected: "\u{201C},\u{201D} and transformations") }
        var arguments = Transformation.HierarchyArguments(
            root: root, qualifier: qualifier, node: node, start: try transformations())
        if takeSeparator(",") {
            if current.isDigit {
                arguments.distance = try wholeNumber()
                guard takeSeparator(",") else { return arguments }
            }
            guard isNext("keep start") else {
                throw failure(
                    expected: arguments.distance == nil
                        ? "a number or \u{201C}keep start\u{201D}" : "\u{201C}keep start\u{201D}")
            }
            position += 10
            arguments.keepStart = true
        }
        return arguments
    }

    private mutating func traverseArguments() throws(QueryError) -> Transformation.TraverseArguments {
        let (root, qualifier, node) = try hierarchyReference()
        guard takeSeparator(",") else { throw failure(expected: "\u{201C},\u{201D} and preorder or postorder") }
        let isPreorder = isWord("preorder")
        guard takeWord("preorder") || takeWord("postorder") else {
            throw failure(expected: "preorder or postorder", among: ["preorder", "postorder"])
        }
        var arguments = Transformation.TraverseArguments(
            root: root, qualifier: qualifier, node: node, isPreorder: isPreorder)
        guard takeSeparator(",") else { return arguments }
        // Transformations and sort items may both follow, and both may begin with a name and a parenthesis.
        let start = position
        let nodesBefore = nodes
        let nestingBefore = nesting
        do throws(QueryError) {
            arguments.start = try transformations()
            guard !isAtEnd, current == UInt8(ascii: ",") || current == UInt8(ascii: ")") || current == 32 else {
                throw failure(expected: "\u{201C},\u{201D}")
            }
            if !takeSeparator(",") { return arguments }
        } catch {
            if case .limit = error.kind { throw error }
            (position, nodes, nesting) = (start, nodesBefore, nestingBefore)
            arguments.start = []
        }
        arguments.orderBy = try orderItems()
        return arguments
    }
}
