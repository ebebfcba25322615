import ODataModel

/// Parsing of `$select` and `$expand` with nested options (OData URL Conventions 4.01, 5.1.3 and 5.1.4).
extension QueryParser {
    // MARK: $select

    mutating func selectItems() throws(QueryError) -> [SelectItem] {
        var items: [SelectItem] = []
        items.reserveCapacity(4)
        repeat {
            try node()
            items.append(try selectItem())
        } while takeSeparator(",")
        return items
    }

    private mutating func selectItem() throws(QueryError) -> SelectItem {
        if take("*") { return SelectItem(.all) }
        if isAtEnd { throw failure(expected: "a property, a type, an operation or *") }
        var path: [Identifier] = []
        repeat {
            if current == UInt8(ascii: "@") {
                path.append(try atName())
                continue
            }
            // In V2 and V3, a path with a star selects all properties of expanded entities.
            if dialect == .v2, !path.isEmpty, current == UInt8(ascii: "*") {
                path.append(Identifier("*", at: offset))
                position += 1
                return SelectItem(.path(path))
            }
            let name = try qualifiedName(expected: "a property, a type, an operation or *")
            if path.isEmpty, isNext(".*") {
                position += 2
                return SelectItem(.operations(name.text))
            }
            path.append(name)
            guard path.count <= QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "A path has more than \(QueryLimits.maxDepth) steps.", offset: offset)
            }
        } while take("/")
        guard current == UInt8(ascii: "(") else { return SelectItem(.path(path)) }
        if let parameters = try parameterNames() { return SelectItem(.operation(path, parameters: parameters)) }
        position += 1
        let options = try nestedOptions(
            allowed: [.filter, .search, .count, .orderby, .skip, .top, .compute, .select, .alias, .expand],
            of: "$select")
        return SelectItem(.path(path), options: options)
    }

    /// Parses `(name,name)`, the parameters of a function overload; returns `nil` and reads nothing if options
    /// follow.
    private mutating func parameterNames() throws(QueryError) -> [Identifier]? {
        let start = position
        position += 1
        var names: [Identifier] = []
        if take(")") { return names }
        repeat {
            guard isNameStart(at: position) else {
                position = start
                return nil
            }
            names.append(try name())
        } while takeSeparator(",")
        guard take(")") else {
            position = start
            return nil
        }
        return names
    }

    // MARK: $expand

    mutating func expandItems() throws(QueryError) -> [ExpandItem] {
        var items: [ExpandItem] = []
        repeat {
            try node()
            items.append(try expandItem())
        } while takeSeparator(",")
        return items
    }

    /// Parses an item of `$expand` with its options.
    mutating func expandItem() throws(QueryError) -> ExpandItem {
        if takeWord("$value") {
            return ExpandItem(path: [], form: .value)
        }
        var path: [Identifier] = []
        var form = ExpandItem.Form.entities
        repeat {
            if isNext("$ref"), !path.isEmpty {
                position += 4
                form = .references
                break
            } else if isNext("$count"), !path.isEmpty, path.last?.text != "*" {
                position += 6
                form = .count
                break
            } else if isNext("$value"), !path.isEmpty, path.last?.text != "*" {
                position += 6
                form = .value
                break
            } else if path.last?.text == "*" {
                throw failure("Expected $ref after */.", at: position - 1)
            } else if current == UInt8(ascii: "*") {
                path.append(Identifier("*", at: offset))
                position += 1
            } else if current == UInt8(ascii: "@") {
                path.append(try atName())
            } else {
                path.append(try qualifiedName(expected: "a navigation property, a type or *"))
            }
            guard path.count <= QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "A path has more than \(QueryLimits.maxDepth) steps.", offset: offset)
            }
        } while take("/")
        guard current == UInt8(ascii: "("), form != .value else { return ExpandItem(path: path, form: form) }
        let isAll = path.last?.text == "*"
        if isAll, form == .references { return ExpandItem(path: path, form: form) }
        position += 1
        let allowed: Set<OptionName>
        switch form {
        case _ where isAll: allowed = [.levels]
        case .entities: allowed = OptionName.nestedInExpand
        case .references: allowed = [.filter, .search, .orderby, .skip, .top, .count]
        case .count, .value: allowed = [.filter, .search]
        }
        let options = try nestedOptions(allowed: allowed, of: "$expand")
        return ExpandItem(path: path, form: form, options: options)
    }

    // MARK: Nested options

    /// Parses `name=value;…)` after the opening parenthesis.
    ///
    /// - Parameters:
    ///   - allowed: the allowed options.
    ///   - owner: the enclosing option, for messages.
    mutating func nestedOptions(allowed: Set<OptionName>, of owner: String) throws(QueryError) -> QueryOptions {
        try enter()
        defer { leave() }
        var options = QueryOptions()
        var seen: Set<String> = []
        var tallest = 0
        repeat {
            let start = position
            let isAlias = current == UInt8(ascii: "@")
            _ = take("@") || take("$")
            guard isNameStart(at: position) else {
                position = start
                throw failure(expected: "a query option")
            }
            let written = try name()
            let full = text(start..<position)
            guard let option = isAlias ? .alias : OptionName(rawValue: written.text.lowercased()),
                allowed.contains(option)
            else {
                let names = allowed.filter { $0 != .alias }.map { "$\($0.rawValue)" }.sorted()
                throw QueryError(
                    .syntax, "\(full) cannot be nested in \(owner) here; expected \(names.joined(separator: ", ")).",
                    offset: source.offset(at: start), suggestions: nearest(to: full, among: names))
            }
            guard seen.insert(isAlias ? full : option.rawValue).inserted else {
                throw failure("\(full) is given twice.", at: start)
            }
            try require("=")
            height = 0
            try value(of: option, named: written.text, into: &options)
            tallest = max(tallest, height)
        } while takeSeparator(";")
        skipSpace()
        guard take(")") else { throw failure(expected: "\u{201C};\u{201D} or \u{201C})\u{201D}") }
        height = tallest
        return options
    }
}
