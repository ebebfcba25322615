import ODataModel

extension ODataURL {
    /// Returns the same request in the syntax of OData 2.0 and 3.0, for ``urlEncoded(dialect:)``.
    ///
    /// Nested `$expand` and `$select` become paths, `contains` becomes `substringof`, `in` becomes a chain of
    /// comparisons, and `/$ref` becomes `/$links/`. Dates and times of day get their older types.
    ///
    /// - Throws: ``QueryError`` with kind `unsupported` and the name of a feature that the older versions lack.
    public func translatedToV2() throws(QueryError) -> ODataURL {
        var result = self
        result.path = try V2Translation.path(path)
        result.options = try V2Translation.options(options)
        return result
    }
}

/// Converts syntax trees of 4.01 to those of OData 2.0 and 3.0.
private enum V2Translation {
    static func refused(_ feature: String, at offset: Int? = nil) -> QueryError {
        QueryError(
            .unsupported(feature: feature), "\(feature) cannot be said in OData 2.0 and 3.0.", offset: offset)
    }

    // MARK: Path

    static func path(_ path: ResourcePath) throws(QueryError) -> ResourcePath {
        var segments: [PathSegment] = []
        for segment in path.segments {
            switch segment {
            case .reference:
                guard let last = segments.popLast() else { throw refused("$ref") }
                segments += [.links, last]
            case .all, .crossJoin, .entity, .each, .query, .filter: throw refused("\(segment)")
            default: segments.append(try segment.mapChildren(expression))
            }
        }
        return ResourcePath(segments)
    }

    // MARK: Options

    static func options(_ options: QueryOptions) throws(QueryError) -> QueryOptions {
        for (name, isGiven) in [
            ("$search", options.search != nil), ("$compute", !options.compute.isEmpty),
            ("$apply", !options.apply.isEmpty), ("$index", options.index != nil),
            ("$levels", options.levels != nil), ("$id", options.id != nil),
            ("A parameter alias", !options.aliases.isEmpty),
            ("$schemaversion", options.schemaVersion != nil), ("$at", !options.temporal.isEmpty),
        ] where isGiven { throw refused(name) }
        var result = options
        result.filter = try options.filter.map(expression)
        result.orderBy = try options.orderBy.mapExpressions(expression)
        result.select = try select(options, below: [])
        result.expand = try expand(options.expand, below: [])
        return result
    }

    /// Returns the `$select` of one level and of the levels below.
    ///
    /// In the older versions an expanded property is returned only if it is selected. A property without `$select`
    /// at or below its level is selected as a whole.
    private static func select(
        _ options: QueryOptions, below prefix: [Identifier]
    ) throws(QueryError) -> [SelectItem] {
        guard isSelective(options) else { return prefix.isEmpty ? [] : [SelectItem(.path(prefix))] }
        var result: [SelectItem] = []
        for item in options.select.isEmpty ? [SelectItem(.all)] : options.select {
            var rest = item.options
            rest.select = []
            guard rest.isEmpty else { throw refused("An option nested in $select") }
            switch item.kind {
            case .all: result.append(prefix.isEmpty ? item : SelectItem(.path(prefix + ["*"])))
            // The nested items below contain the selection of an expanded property.
            case .path(let path) where options.expand.contains { $0.path == path }: break
            // A selection within a complex value returns the whole value.
            case .path(let path): result.append(SelectItem(.path(prefix + path)))
            case .operations, .operation: throw refused("An operation in $select")
            }
        }
        for item in options.expand { result += try select(item.options, below: prefix + item.path) }
        return result
    }

    /// Returns whether this level or an expanded one has a selection.
    private static func isSelective(_ options: QueryOptions) -> Bool {
        !options.select.isEmpty || options.expand.contains { isSelective($0.options) }
    }

    private static func expand(
        _ items: [ExpandItem], below prefix: [Identifier]
    ) throws(QueryError) -> [ExpandItem] {
        var result: [ExpandItem] = []
        for item in items {
            let path = prefix + item.path
            guard item.form == .entities, item.path != ["*"] else {
                throw refused("$expand of anything but entities", at: path.first?.offset)
            }
            var rest = item.options
            rest.select = []
            rest.expand = []
            guard rest.isEmpty else { throw refused("An option nested in $expand", at: path.first?.offset) }
            // A deeper path includes the paths before it.
            result +=
                item.options.expand.isEmpty ? [ExpandItem(path: path)] : try expand(item.options.expand, below: path)
        }
        return result
    }

    // MARK: Expressions

    /// The functions that the older versions support.
    private static let functions: Set<CanonicalFunction> = [
        .substringof, .endswith, .startswith, .length, .indexof, .replace, .substring, .tolower, .toupper, .trim,
        .concat, .day, .hour, .minute, .month, .second, .year, .round, .floor, .ceiling, .years, .months, .days,
        .hours, .minutes, .seconds, .geoDistance, .geoIntersects, .geoLength,
    ]

    static func expression(_ expression: CommonExpression) throws(QueryError) -> CommonExpression {
        switch expression {
        case .literal(let literal): return .literal(try self.literal(literal))
        case .path(let steps): return .path(try steps.map { step throws(QueryError) in try self.step(step) })
        case .unary, .typeTest: return try expression.mapChildren(self.expression)
        case .binary(let symbol, let left, _):
            guard symbol != .has, symbol != .divideBy else { throw refused(symbol.rawValue, at: left.offset) }
            return try expression.mapChildren(self.expression)
        case .membership(let operand, .list(let items)) where !items.isEmpty:
            let value = try self.expression(operand)
            let tests = try items.map(self.expression).map { CommonExpression.binary(.equal, value, $0) }
            return CommonExpression.joined(tests[...], by: .or)
        case .call(let name, let arguments):
            var arguments = try arguments.map(self.expression)
            var function = CanonicalFunction(name: name.text)
            if function == .contains {
                function = .substringof
                arguments.reverse()
            }
            guard let function, functions.contains(function) else { throw refused(name.text, at: name.offset) }
            return .call(Identifier(function.rawValue, at: name.offset), arguments)
        case .membership, .alias, .namedCall, .list, .json:
            throw refused("This expression", at: expression.offset)
        }
    }

    private static func step(_ step: PathStep) throws(QueryError) -> PathStep {
        switch step {
        case .name(let name) where !name.text.hasPrefix("@"): return step
        case .any, .all: return try step.mapChildren(expression)
        case .variable(let name) where name.text == "$it": return step
        default: throw refused("This step of a path", at: step.offset)
        }
    }

    private static func literal(_ literal: Literal) throws(QueryError) -> Literal {
        if literal.enumeration != nil { throw refused("An enumeration", at: literal.offset) }
        switch literal.value {
        case .date(let date):
            let (seconds, overflow) = date.daysSinceEpoch.multipliedReportingOverflow(by: 86_400)
            if overflow { throw refused("A date beyond 64 bits", at: literal.offset) }
            return Literal(.dateTime(ODataDateTime(seconds: seconds)), type: .dateTime, at: literal.offset)
        case .timeOfDay(let time):
            let second = DateArithmetic.picosecondsPerSecond
            let (seconds, rest) = time.picoseconds.quotientAndRemainder(dividingBy: second)
            return Literal(
                .duration(ODataDuration(seconds: seconds, picoseconds: rest)), type: .time, at: literal.offset)
        case .duration where literal.type != .time: throw refused("A duration", at: literal.offset)
        case .complex, .collection, .enumeration: throw refused("This literal", at: literal.offset)
        default: return literal
        }
    }
}
