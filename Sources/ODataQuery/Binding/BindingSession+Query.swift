import ODataModel

/// The query options over rows of a shape (OData URL Conventions 4.01, 5.1). They act in the order of Protocol
/// 4.01, 11.2.1: `$apply`, `$compute`, `$search`, `$filter`, `$count`, `$orderby`, `$skip`, `$top`, then
/// `$expand` and `$select`.
extension BindingSession {
    func query(
        _ options: QueryOptions, shape: Shape, source: String?, set: EntitySet?, isExpanded: Bool = false
    ) throws(QueryError) -> BoundQuery {
        for name in options.temporal.keys.sorted() { throw unsupported(name, at: nil) }
        if options.index != nil { throw unsupported("$index", at: nil) }
        var scope = Scope(shape: shape, source: source)
        var query = BoundQuery(shape: shape, set: set, variable: scope.current)
        if isExpanded {
            // $it is the instance that the whole request is about, which the rows of an expand do not carry.
            scope.it = nil
        }
        query.apply = try part("$apply") { () throws(QueryError) in try transformations(options.apply, in: &scope) }
        query.compute = try part("$compute") { () throws(QueryError) in try compute(options.compute, in: &scope) }
        if let filter = options.filter {
            query.filter = try part("$filter") { () throws(QueryError) in try condition(filter, in: scope) }
        }
        query.search = options.search
        query.orderBy = try part("$orderby") { () throws(QueryError) in try order(options.orderBy, in: scope) }
        query.skip = try nonNegative(options.skip, "$skip")
        query.top = try nonNegative(options.top, "$top")
        query.count = options.count ?? false
        query.skipToken = options.skipToken
        query.deltaToken = options.deltaToken
        let current = scope
        var nested: [Int: BoundProjection] = [:]
        query.projection = try part("$select") { () throws(QueryError) in
            try projection(options.select, in: current, nested: &nested)
        }
        query.nestedProjections = nested
        query.expand = try part("$expand") { () throws(QueryError) in try expand(options.expand, in: current) }
        return query
    }

    private func nonNegative(_ number: Int?, _ name: String) throws(QueryError) -> Int? {
        guard let number else { return nil }
        guard number >= 0 else { throw QueryError(.syntax, "\(name) cannot be negative.", part: name) }
        return number
    }

    // MARK: $compute and $orderby

    func compute(_ items: [ComputeItem], in scope: inout Scope) throws(QueryError) -> [BoundCompute] {
        var bound: [BoundCompute] = []
        for item in items {
            let expression = try bind(item.expression, in: scope)
            let name = item.name.text
            if expression.type.isCollection || shape(of: expression.type) != nil {
                throw unsupported("A computed value of type \(expression.type)", at: item.expression.offset)
            }
            let shape = scope.current.shape
            guard shape?.ordinal(of: name) == nil, shape?.navigationOrdinal(of: name) == nil,
                scope.computed[name] == nil
            else {
                throw typeError("\(name) is the name of a property already.", at: item.name.offset)
            }
            scope.computed[name] = expression.type
            bound.append(BoundCompute(expression, as: name))
        }
        return bound
    }

    func order(_ items: [OrderItem], in scope: Scope) throws(QueryError) -> [BoundOrder] {
        var bound: [BoundOrder] = []
        for item in items {
            let expression = try bind(item.expression, in: scope)
            switch expression.type {
            case .collection, .complex, .entity:
                throw typeError("Values of type \(expression.type) have no order.", at: item.expression.offset)
            case .primitive(let type) where type == .stream || type == .binary || type.isGeo:
                throw typeError("Values of type \(expression.type) have no order.", at: item.expression.offset)
            default: bound.append(BoundOrder(expression, isDescending: item.isDescending))
            }
        }
        return bound
    }

    // MARK: $select

    /// Resolves `$select` (5.1.3). Navigation properties and operations may be named and change nothing of the
    /// values returned.
    func projection(
        _ items: [SelectItem], in scope: Scope, nested: inout [Int: BoundProjection]
    ) throws(QueryError) -> BoundProjection {
        guard !items.isEmpty else { return .all }
        guard let shape = scope.current.shape else {
            throw unsupported("$select of primitive values", at: nil)
        }
        var ordinals: [Int] = []
        var names: [String] = []
        var parts: [Int: [SelectItem]] = [:]
        var whole: Set<Int> = []
        var isAll = false
        for item in items {
            switch item.kind {
            case .all: isAll = true
            case .operations: continue
            case .operation(let path, _):
                guard let name = path.last, isOperation(name) else {
                    throw unknownProperty(path.last ?? "", of: shape)
                }
            case .path(let path):
                guard let (found, length) = try selected(path, of: shape, scope, &names) else { continue }
                if !ordinals.contains(found) { ordinals.append(found) }
                let rest = Array(path.dropFirst(length))
                if rest.isEmpty, item.options.isEmpty {
                    whole.insert(found)
                } else if rest.isEmpty {
                    var other = item.options
                    other.select = []
                    guard other.isEmpty, !item.options.select.isEmpty else {
                        throw unsupported("An option nested in $select other than $select", at: path.first?.offset)
                    }
                    parts[found, default: []] += item.options.select
                } else {
                    parts[found, default: []].append(SelectItem(.path(rest), options: item.options))
                }
            }
        }
        for (ordinal, items) in parts where !whole.contains(ordinal) && !isAll {
            guard let inner = self.shape(of: shape.properties[ordinal].type.element) else {
                throw typeError("\(shape.properties[ordinal].name) is not complex and has no properties.", at: nil)
            }
            nested[ordinal] = try nestedProjection(items, of: inner)
        }
        return isAll ? .all : .some(ordinals: ordinals, names: names)
    }

    private func nestedProjection(_ items: [SelectItem], of shape: Shape) throws(QueryError) -> BoundProjection {
        var deeper: [Int: BoundProjection] = [:]
        let result = try nested(at: nil) { () throws(QueryError) in
            try projection(items, in: Scope(shape: shape, source: nil), nested: &deeper)
        }
        guard deeper.isEmpty else { throw unsupported("$select into complex values of complex values", at: nil) }
        return result
    }

    /// The ordinal of the property that a path starts with, and how many names that takes; `nil` when the path
    /// names something that has no ordinal.
    private func selected(
        _ path: [Identifier], of shape: Shape, _ scope: Scope, _ names: inout [String]
    ) throws(QueryError) -> (ordinal: Int, length: Int)? {
        guard let first = path.first else { return nil }
        for length in stride(from: path.count, through: 1, by: -1) {
            let joined = path[..<length].map(\.text).joined(separator: "/")
            if let ordinal = shape.ordinal(of: joined) { return (ordinal, length) }
        }
        if scope.computed[first.text] != nil, path.count == 1 {
            names.append(first.text)
            return nil
        }
        if shape.navigationProperty(first.text) != nil {
            guard path.count == 1 else {
                throw unsupported("$select through a navigation property", at: first.offset)
            }
            return nil
        }
        if first.text.hasPrefix("@") { throw unsupported("$select of an annotation", at: first.offset) }
        if let target = try cast(from: shape, to: first) {
            guard model.isType(shape.name, target.name), path.count > 1 else {
                throw unsupported("$select through a type cast", at: first.offset)
            }
            return try selected(Array(path.dropFirst()), of: shape, scope, &names).map { ($0.ordinal, $0.length + 1) }
        }
        if isOperation(first), path.count == 1 { return nil }
        guard shape.isOpen, path.count == 1 else { throw unknownProperty(first, of: shape, also: scope.computed.keys) }
        names.append(first.text)
        return nil
    }

    func isOperation(_ name: Identifier) -> Bool {
        qualified(name.text).contains { !model.operations($0).isEmpty }
    }

    // MARK: $expand

    /// Resolves `$expand` (5.1.4).
    func expand(_ items: [ExpandItem], in scope: Scope) throws(QueryError) -> [BoundExpand] {
        var bound: [BoundExpand] = []
        guard let shape = scope.current.shape else {
            guard items.isEmpty else { throw unsupported("$expand of primitive values", at: nil) }
            return []
        }
        for item in items {
            let offset = item.path.first?.offset
            if item.form == .value { throw unsupported("$value within $expand", at: offset) }
            guard item.path.last?.text == "*" else {
                try add(
                    try nested(at: offset) { () throws(QueryError) in try expand(item, in: scope) }, at: offset,
                    to: &bound)
                continue
            }
            if item.path.count > 1 { throw unsupported("$expand of * below a property", at: offset) }
            for navigation in shape.navigationProperties {
                var single = item
                single.path = [Identifier(navigation.name, at: offset)]
                if item.options.levels != nil, !isRecursive(navigation, from: shape) { single.options.levels = nil }
                let next = try expand(single, in: scope)
                // What is named besides the star wins over it.
                if !bound.contains(where: { $0.path == next.path && $0.navigation == next.navigation }),
                    !items.contains(where: { $0.path.map(\.text) == [navigation.name] })
                {
                    bound.append(next)
                }
            }
        }
        return bound
    }

    private func add(_ item: BoundExpand, at offset: Int?, to bound: inout [BoundExpand]) throws(QueryError) {
        guard
            let index = bound.firstIndex(where: {
                $0.path == item.path && $0.navigation == item.navigation && $0.form == item.form
            })
        else {
            bound.append(item)
            return
        }
        // V2 writes Orders,Orders/Items, which says the same property twice.
        var plain = item.query
        let inner = plain.expand
        plain.expand = []
        guard !inner.isEmpty || item == bound[index],
            plain == BoundQuery(shape: plain.shape, set: plain.set, variable: plain.variable)
        else {
            throw typeError("\(item.navigation.name) is expanded twice.", at: offset)
        }
        for next in inner { try add(next, at: offset, to: &bound[index].query.expand) }
    }

    private func isRecursive(_ navigation: NavigationProperty, from shape: Shape) -> Bool {
        model.isType(navigation.target, shape.name) || model.isType(shape.name, navigation.target)
    }

    private func expand(_ item: ExpandItem, in scope: Scope) throws(QueryError) -> BoundExpand {
        var state = Self.current(of: scope)
        var rest = item.path[...]
        while let name = rest.first {
            rest = rest.dropFirst()
            if name.text.hasPrefix("@") { throw unsupported("$expand of an annotation", at: name.offset) }
            guard let shape = state.shape else {
                throw typeError(
                    "\(item.path.map(\.text).joined(separator: "/")) leads to no navigation property.", at: name.offset)
            }
            guard let navigation = shape.navigationProperty(name.text) else {
                if state.isCollection {
                    throw unsupported("$expand within a collection of complex values", at: name.offset)
                }
                try append(name, to: &state, in: scope)
                continue
            }
            if state.isCollection {
                throw unsupported("$expand within a collection of complex values", at: name.offset)
            }
            let set = targetSet(of: navigation, in: state)
            guard let target = model.shape(navigation.target) else {
                throw QueryError(.unknownName, "The model has no type \(navigation.target).", offset: name.offset)
            }
            if let next = rest.first, target.navigationProperty(next.text) == nil,
                let derived = try cast(from: target, to: next)
            {
                if derived == target {
                    rest = rest.dropFirst()
                } else if rest.count == 1 {
                    throw unsupported("A type cast at the end of $expand", at: next.offset)
                }
            }
            var options = item.options
            options.levels = nil
            var form = item.form
            let isLast = rest.isEmpty
            if !isLast {
                // V2 and V3 expand level by level in one path.
                options = QueryOptions()
                options.expand = [ExpandItem(path: Array(rest), form: item.form, options: item.options)]
                form = .entities
            }
            var levels: Int? = 1
            if isLast, let wanted = item.options.levels {
                if wanted != .exactly(1), !isRecursive(navigation, from: shape) {
                    throw typeError(
                        "$levels is for navigation properties that lead back to their own type, and \(navigation.name) "
                            + "leads from \(shape.name) to \(navigation.target).", at: name.offset)
                }
                if case .exactly(let number) = wanted { levels = number } else { levels = nil }
            }
            let outer = aliases
            aliases.merge(item.options.aliases) { _, inner in inner }
            defer { aliases = outer }
            let query = try query(options, shape: target, source: set?.name, set: set, isExpanded: true)
            return BoundExpand(path: state.steps, navigation: navigation, form: form, levels: levels, query: query)
        }
        let last = item.path.last
        if case .primitive(.stream) = state.type { throw unsupported("$expand of a stream", at: last?.offset) }
        throw QueryError(
            .unknownName, "\(last?.text ?? "") is no navigation property.", offset: last?.offset,
            suggestions: nearest(
                to: last?.text ?? "", among: scope.current.shape?.navigationProperties.map(\.name) ?? []))
    }
}
