import ODataModel

/// Binding of the query options over rows of a shape (OData URL Conventions 4.01, 5.1).
///
/// The options apply in the order of Protocol 4.01, 11.2.1: `$apply`, `$compute`, `$search`, `$filter`, `$count`,
/// `$orderby`, `$skip`, `$top`, then `$expand` and `$select`.
extension BindingSession {
    func query(
        _ options: QueryOptions, shape: TypeShape, source: String?, set: EntitySet?, within outer: Scope? = nil
    ) throws(QueryError) -> BoundQuery {
        if !options.temporal.isEmpty, let name = options.temporal.keys.min() { throw unsupported(name, at: nil) }
        if let moved = selectingRelated(options, of: shape) {
            return try resolved(moved, shape: shape, source: source, set: set, within: outer)
        }
        return try resolved(options, shape: shape, source: source, set: set, within: outer)
    }

    private func resolved(
        _ options: QueryOptions, shape: TypeShape, source: String?, set: EntitySet?, within outer: Scope?
    ) throws(QueryError) -> BoundQuery {
        var scope = Scope(shape: shape, source: source)
        var query = BoundQuery(shape: shape, set: set, variable: scope.current)
        if let outer {
            // $it is the instance of the whole request, not a member of the expanded collection.
            scope.it = outer.it.map {
                RangeVariable(name: $0.name, identifier: RangeVariable.outermost, shape: $0.shape, type: $0.type)
            }
            scope.itSource = outer.itSource
        }
        if !options.apply.isEmpty {
            query.apply = try part("$apply") { () throws(QueryError) in
                try transformations(options.apply, in: &scope)
            }
        }
        if !options.compute.isEmpty {
            query.compute = try part("$compute") { () throws(QueryError) in try compute(options.compute, in: &scope) }
        }
        // A closure would copy a mutable variable at each use.
        let current = scope
        if let filter = options.filter {
            query.filter = try part("$filter") { () throws(QueryError) in try condition(filter, in: current) }
        }
        query.search = options.search
        query.orderBy = try part("$orderby") { () throws(QueryError) in try order(options.orderBy, in: current) }
        query.skip = try nonNegative(options.skip, "$skip")
        query.top = try nonNegative(options.top, "$top")
        query.count = options.count ?? false
        query.skipToken = options.skipToken
        query.deltaToken = options.deltaToken
        query.index = options.index
        if !options.select.isEmpty {
            var parts = SelectedParts()
            query.projection = try part("$select") { () throws(QueryError) in
                try projection(options.select, in: current, parts: &parts)
            }
            query.nestedProjections = parts.projections
            query.nestedQueries = parts.queries
        }
        if !options.expand.isEmpty {
            let streams = options.expand.filter { isStream($0, of: current.current.shape) }
            let entities = options.expand.filter { !isStream($0, of: current.current.shape) }
            query.expand = try part("$expand") { () throws(QueryError) in try expand(entities, in: current) }
            query.expandedStreams = try part("$expand") { () throws(QueryError) in
                try streams.map { item throws(QueryError) in try stream(item, in: current) }
            }
        }
        return query
    }

    /// Moves selected paths through navigation properties into `$expand`; `nil` if there are none.
    ///
    /// V2 and V3 write such paths in `$select`; 4.01 nests the selection in `$expand`.
    private func selectingRelated(_ options: QueryOptions, of shape: TypeShape) -> QueryOptions? {
        guard !options.expand.isEmpty else { return nil }
        let isAsked = options.select.contains { item in
            if case .path(let path) = item.kind { path.count > 1 } else { false }
        }
        guard isAsked else { return nil }
        var result = options
        result.select = []
        for item in options.select {
            guard case .path(let path) = item.kind, path.count > 1, let first = path.first,
                shape.ordinal(of: path.map(\.text).joined(separator: "/")) == nil,
                shape.navigationProperty(first.text) != nil,
                let index = result.expand.firstIndex(where: { $0.path.first == first })
            else {
                result.select.append(item)
                continue
            }
            let rest = Array(path.dropFirst())
            let deeper = result.expand[index].path.dropFirst()
            if !deeper.isEmpty {
                // The rest of the expanded path becomes a nested $expand, which takes the remaining options.
                var inner = result.expand[index]
                inner.path = Array(deeper)
                result.expand[index] = ExpandItem(path: [first])
                result.expand[index].options.expand = [inner]
            }
            let kind: SelectItem.Kind = rest == ["*"] ? .all : .path(rest)
            result.expand[index].options.select.append(SelectItem(kind, options: item.options))
        }
        // If only such paths are selected, the row's own properties are returned too, which the standard allows.
        return result
    }

    /// Returns whether an item of `$expand` names a stream.
    private func isStream(_ item: ExpandItem, of shape: TypeShape?) -> Bool {
        if item.form == .value { return true }
        return item.path.count == 1 && shape?.property(item.path[0].text)?.type.primitive == .stream
    }

    private func stream(_ item: ExpandItem, in scope: Scope) throws(QueryError) -> [BoundStep] {
        guard item.options.isEmpty else {
            throw typeError("A stream takes no options in $expand.", at: item.path.first?.offset)
        }
        if item.path.isEmpty {
            guard scope.current.shape?.hasStream == true else {
                throw typeError("$value in $expand is for media entities.", at: nil)
            }
            return []
        }
        guard case .path(let path) = try bind(path: item.path.map { .name($0) }, in: scope),
            path.type.primitive == .stream
        else { throw typeError("$value in $expand is for streams.", at: item.path.first?.offset) }
        return path.steps
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
            if case .entity = expression.type.element {
                throw typeError("An entity cannot be computed.", at: item.expression.offset)
            }
            try requireFree(item.name, in: scope)
            guard scope.computed[name] == nil else {
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
            default: bound.append(BoundOrder(comparable(expression), isDescending: item.isDescending))
            }
        }
        return bound
    }

    // MARK: $select

    /// The selections within properties that `$select` names, by ordinal.
    struct SelectedParts {
        var projections: [Int: BoundProjection] = [:]
        var queries: [Int: BoundQuery] = [:]
    }

    /// Resolves `$select` (5.1.3). Navigation properties and operations are allowed, but do not change the returned
    /// values.
    func projection(
        _ items: [SelectItem], in scope: Scope, parts selections: inout SelectedParts
    ) throws(QueryError) -> BoundProjection {
        guard !items.isEmpty else { return .all }
        guard let shape = scope.current.shape else {
            throw unsupported("$select of primitive values", at: nil)
        }
        var ordinals: [Int] = []
        var names: [String] = []
        var parts: [Int: [SelectItem]] = [:]
        // The list is short, so a linear search is faster than hashing.
        var whole: [Int] = []
        var isAll = false
        ordinals.reserveCapacity(items.count)
        whole.reserveCapacity(items.count)
        for item in items {
            switch item.kind {
            case .all: isAll = true
            case .operations: continue
            case .operation(let path, _):
                guard let name = path.last, isOperation(name) else {
                    throw unknownProperty(path.last ?? "", of: shape)
                }
            case .path(let path):
                guard let (found, length) = try selected(path, of: shape, scope: scope, names: &names) else { continue }
                if !ordinals.contains(found) { ordinals.append(found) }
                let rest = Array(path.dropFirst(length))
                if rest.isEmpty, !item.hasOptions {
                    whole.append(found)
                } else if rest.isEmpty {
                    var other = item.options
                    other.select = []
                    if !other.isEmpty {
                        selections.queries[found] = try memberQuery(
                            other, of: shape.properties[found], at: path.first?.offset)
                    }
                    parts[found, default: []] += item.options.select
                } else {
                    parts[found, default: []].append(SelectItem(.path(rest), options: item.options))
                }
            }
        }
        for (ordinal, items) in parts where !whole.contains(ordinal) && !isAll && !items.isEmpty {
            guard let inner = self.shape(of: shape.properties[ordinal].type.element) else {
                throw typeError("\(shape.properties[ordinal].name) is not complex and has no properties.", at: nil)
            }
            // Values nested more deeply are returned whole, which the standard allows (Protocol 4.01, 11.2.5.1).
            var deeper = SelectedParts()
            selections.projections[ordinal] = try nested(at: nil) { () throws(QueryError) in
                try projection(items, in: Scope(shape: inner, source: nil), parts: &deeper)
            }
        }
        return isAll ? .all : .some(ordinals: ordinals, names: names)
    }

    /// Resolves the options nested in `$select` after a collection, as a query over its members.
    private func memberQuery(
        _ options: QueryOptions, of property: Property, at offset: Int?
    ) throws(QueryError) -> BoundQuery {
        guard property.type.isCollection else {
            var rest = options
            rest.compute = []
            guard rest.isEmpty else {
                throw typeError(
                    "\(property.name) is no collection, so that $select and $compute alone can be nested in it.",
                    at: offset)
            }
            throw unsupported("$compute nested in $select", at: offset)
        }
        return try nested(at: offset) { () throws(QueryError) in
            try query(overMembersOf: property.type.element, options)
        }
    }

    /// Resolves a query over the members of a collection of non-entities.
    ///
    /// Primitive members have no shape: the variable of the query has none, and the shape of the query has no
    /// properties.
    func query(overMembersOf element: TypeReference, _ options: QueryOptions) throws(QueryError) -> BoundQuery {
        if let shape = shape(of: element) { return try query(options, shape: shape, source: nil, set: nil) }
        for (name, isGiven) in [
            ("$apply", !options.apply.isEmpty), ("$compute", !options.compute.isEmpty),
            ("$select", !options.select.isEmpty), ("$expand", !options.expand.isEmpty),
        ] where isGiven { throw typeError("\(name) cannot be applied to values of type \(element).", at: nil) }
        let shape = TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
        var scope = Scope(shape: shape, source: nil)
        scope.current = RangeVariable(name: "$it", identifier: 0, shape: nil, type: element)
        scope.it = scope.current
        let current = scope
        var query = BoundQuery(shape: shape, set: nil, variable: scope.current)
        if let filter = options.filter {
            query.filter = try part("$filter") { () throws(QueryError) in try condition(filter, in: current) }
        }
        query.search = options.search
        query.orderBy = try part("$orderby") { () throws(QueryError) in try order(options.orderBy, in: current) }
        query.skip = try nonNegative(options.skip, "$skip")
        query.top = try nonNegative(options.top, "$top")
        query.count = options.count ?? false
        query.index = options.index
        return query
    }

    /// Returns the ordinal of the property at the start of a path, and the number of path segments that it takes.
    ///
    /// The result is `nil` if the path names something without an ordinal.
    private func selected(
        _ path: [Identifier], of shape: TypeShape, scope: Scope, names: inout [String]
    ) throws(QueryError) -> (ordinal: Int, length: Int)? {
        guard let first = path.first else { return nil }
        if path.count == 1, let ordinal = shape.ordinal(of: first.text) { return (ordinal, 1) }
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
                throw typeError(
                    "Select properties of \(first) within $expand: $expand=\(first)($select=…).", at: first.offset
                )
            }
            // A property that a transformation created is returned like any other.
            if model.shape(shape.name) != shape { names.append(first.text) }
            return nil
        }
        if first.text.hasPrefix("@") {
            names.append(first.text)
            return nil
        }
        if let target = try cast(from: shape, to: first) {
            guard path.count > 1 else { throw typeError("A type cannot be selected.", at: first.offset) }
            let rest = Array(path.dropFirst())
            if model.isType(shape.name, target.name) {
                return try selected(rest, of: shape, scope: scope, names: &names).map { ($0.ordinal, $0.length + 1) }
            }
            guard let (ordinal, length) = try selected(rest, of: target, scope: scope, names: &names) else {
                return nil
            }
            if ordinal < shape.properties.count { return (ordinal, length + 1) }
            // A property of a derived type has no ordinal in this shape.
            names.append(target.properties[ordinal].name)
            return nil
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
            guard item.path.last?.text == "*" else {
                try add(
                    try nested(at: offset) { () throws(QueryError) in try expand(item, in: scope) }, at: offset,
                    to: &bound)
                continue
            }
            let prefix = Array(item.path.dropLast())
            guard let owner = try self.shape(at: prefix, in: scope) else {
                throw typeError("* is for navigation properties of structured values.", at: offset)
            }
            for navigation in owner.navigationProperties {
                var single = item
                single.path = prefix + [Identifier(navigation.name, at: offset)]
                if item.options.levels != nil, !isRecursive(navigation, from: shape) { single.options.levels = nil }
                let next = try expand(single, in: scope)
                // An explicitly named property takes precedence over the star.
                if !bound.contains(where: { $0.path == next.path && $0.navigation == next.navigation }),
                    !items.contains(where: { $0.path == single.path })
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
        // V2 writes Orders,Orders/Items, which names the same property twice.
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

    /// Returns the shape of the values at the end of a path of properties and casts.
    private func shape(at path: [Identifier], in scope: Scope) throws(QueryError) -> TypeShape? {
        var state = Self.current(of: scope)
        for name in path {
            if state.isCollection { state.type = state.type.element }
            try append(name, to: &state, in: scope)
        }
        return state.shape
    }

    private func isRecursive(_ navigation: NavigationProperty, from shape: TypeShape) -> Bool {
        model.isType(navigation.target, shape.name) || model.isType(shape.name, navigation.target)
    }

    func expand(_ item: ExpandItem, in scope: Scope) throws(QueryError) -> BoundExpand {
        var state = Self.current(of: scope)
        var rest = item.path[...]
        while let name = rest.first {
            rest = rest.dropFirst()
            if name.text.hasPrefix("@") { throw unsupported("$expand of an annotation", at: name.offset) }
            // The path continues in each of the complex values.
            if state.isCollection { state.type = state.type.element }
            guard let shape = state.shape else {
                throw typeError(
                    "\(item.path.map(\.text).joined(separator: "/")) leads to no navigation property.", at: name.offset)
            }
            guard let navigation = navigationProperty(name.text, of: shape) else {
                try append(name, to: &state, in: scope)
                continue
            }
            let set = targetSet(of: navigation, in: state)
            guard var target = self.shape(navigation.target) else {
                throw QueryError(.unknownName, "The model has no type \(navigation.target).", offset: name.offset)
            }
            var restriction: TypeShape?
            if let next = rest.first, target.navigationProperty(next.text) == nil,
                let derived = try cast(from: target, to: next)
            {
                if derived == target {
                    rest = rest.dropFirst()
                } else if rest.count == 1 {
                    rest = rest.dropFirst()
                    (restriction, target) = (derived, derived)
                }
            }
            var options = item.options
            options.levels = nil
            var form = item.form
            let isLast = rest.isEmpty
            if !isLast {
                // V2 and V3 write nested expansions as one path.
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
            let usesBefore = outermostUses
            var query = try query(options, shape: target, source: set?.name, set: set, within: scope)
            if let restriction {
                // Only related entities of the derived type are returned. The test starts from the declared type,
                // like a cast in a resource path.
                let type = TypeReference.entity(navigation.target)
                let current = BoundPath(
                    variable: RangeVariable(
                        name: query.variable.name, identifier: query.variable.identifier,
                        shape: self.shape(navigation.target), type: type),
                    steps: [], type: type)
                query.filter = Self.all([.isOf(current, restriction.name)] + (query.filter.map { [$0] } ?? []))
            }
            var bound = BoundExpand(
                path: state.steps, navigation: navigation, form: form, levels: levels, query: query)
            bound.refersToOutermost = outermostUses > usesBefore
            return bound
        }
        let last = item.path.last
        throw QueryError(
            .unknownName, "\(last?.text ?? "") is no navigation property.", offset: last?.offset,
            suggestions: nearest(
                to: last?.text ?? "", among: scope.current.shape?.navigationProperties.map(\.name) ?? []))
    }
}
