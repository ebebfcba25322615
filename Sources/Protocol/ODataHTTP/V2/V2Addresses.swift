import ODataModel
import ODataQuery
import ODataService

/// Translation between the URLs of V2 clients and those of the service.
struct V2Addresses {
    let model: V2Model
    /// The root of the V2 service from the client's point of view.
    let serviceRoot: ServiceRoot
    /// The query language of the service.
    var language = QueryLanguage()

    // MARK: From V2

    /// Translates a V2 URL to a URL of the service.
    ///
    /// `$links` becomes `$ref`, paths in `$expand` and `$select` become nested options, and literals get the types
    /// of the service.
    ///
    /// - Throws: ``QueryError`` with the position.
    func url(_ text: String) throws(QueryError) -> ODataURL {
        try url(RequestURL(text).parsed(ParsingOptions(dialect: .v2)))
    }

    /// Translates a parsed V2 URL to a URL of the service.
    func url(_ parsed: ODataURL) throws(QueryError) -> ODataURL {
        var url = parsed
        let hasLinks = url.path.segments.contains(.links)
        if hasLinks {
            url.path.segments.removeAll { $0 == .links }
            if url.path.segments.last != .count { url.path.segments.append(.reference) }
        }
        // Resources that the V2 model lacks do not exist for V2 clients.
        let bound = try language.bind(url, model: model.visible)
        if let shape = Self.shape(bound, in: model.service) {
            let literals = V2Literals(model: model)
            if let filter = url.options.filter { url.options.filter = literals.adapted(filter, in: shape) }
            url.options.orderBy = url.options.orderBy.map {
                OrderItem(literals.adapted($0.expression, in: shape), isDescending: $0.isDescending)
            }
            nestPaths(&url.options, shape)
        }
        if case .operation? = bound.resource.steps.first { url = try model.boundOperations.url(calledBy: url) }
        url.path = V2Literals(model: model).adapted(url.path)
        return url
    }

    /// Translates the URL of an entity, absolute or relative, to a URL of the service.
    ///
    /// - Throws: 400 if the URL is invalid or of another service.
    func entityID(_ text: String) throws(ODataError) -> String {
        guard let relative = serviceRoot.relative(text) else {
            throw ODataError(
                status: 400, code: "InvalidReference", message: "\(text.prefix(200)) is of another service.")
        }
        // The id of another request in a batch refers to the entity that it created.
        if relative.hasPrefix("$") { return relative }
        do throws(QueryError) {
            return try url(relative).urlEncoded()
        } catch {
            throw ODataError(error)
        }
    }

    private static func shape(_ bound: BoundURL, in service: EntityDataModel) -> TypeShape? {
        switch bound.resource.target {
        case .entities(let shape, _), .entity(let shape, _), .count(let shape, _), .references(_, let shape, _, _):
            service.shape(shape.name)
        case .operation(let operation):
            switch operation.returnType?.element {
            case .entity(let name?)?, .complex(let name?)?: service.shape(name)
            default: nil
            }
        default: nil
        }
    }

    /// Converts `$expand=A/B` to `$expand=A($expand=B)`, and `$select=A/X` to a selection within the expanded A.
    private func nestPaths(_ options: inout QueryOptions, _ shape: TypeShape) {
        var nested: [ExpandItem] = []
        for item in options.expand { Self.add(item.path[...], item.options, to: &nested, shape, model.service) }
        var selected: [SelectItem] = []
        for item in options.select {
            guard case .path(let path) = item.kind, path.count > 1, let first = path.first,
                shape.navigationProperty(first.text) != nil
            else {
                // An expanded navigation property need not be selected too.
                if case .path(let path) = item.kind, path.count == 1, nested.contains(where: { $0.path == path }) {
                    continue
                }
                selected.append(item)
                continue
            }
            Self.select(path[...], in: &nested, shape, model.service)
        }
        options.expand = nested
        options.select = selected
    }

    private static func add(
        _ path: ArraySlice<Identifier>, _ options: QueryOptions, to items: inout [ExpandItem], _ shape: TypeShape,
        _ model: EntityDataModel
    ) {
        guard let first = path.first else { return }
        let index = items.firstIndex { $0.path == [first] } ?? items.endIndex
        if index == items.endIndex { items.append(ExpandItem(path: [first])) }
        guard path.count > 1, let target = shape.navigationProperty(first.text).flatMap({ model.shape($0.target) })
        else {
            if path.count > 1 { items[index].path = Array(path) }
            return
        }
        add(path.dropFirst(), options, to: &items[index].options.expand, target, model)
    }

    private static func select(
        _ path: ArraySlice<Identifier>, in items: inout [ExpandItem], _ shape: TypeShape, _ model: EntityDataModel
    ) {
        guard let first = path.first,
            let target = shape.navigationProperty(first.text).flatMap({ model.shape($0.target) })
        else { return }
        // A related entity that is selected but not expanded has no properties to select from.
        guard let index = items.firstIndex(where: { $0.path == [first] }) else { return }
        let rest = path.dropFirst()
        if rest.count > 1, let next = rest.first, target.navigationProperty(next.text) != nil {
            select(rest, in: &items[index].options.expand, target, model)
        } else if rest.count == 1, rest.first?.text == "*" {
            items[index].options.select.append(SelectItem(.all))
        } else {
            items[index].options.select.append(SelectItem(.path(Array(rest))))
        }
    }

    // MARK: To V2

    /// Returns the absolute V2 URL of a URL of the service.
    func link(_ text: String) -> String {
        guard let url = try? ODataURL(parsing: text) else { return serviceRoot.url(for: text) }
        return serviceRoot.url(for: url.urlEncoded(dialect: .v2))
    }
}

/// Conversion of V2 literals to the types of the service, if the context determines the type.
struct V2Literals {
    let model: V2Model

    /// Returns a path with keys in the types of the service.
    func adapted(_ path: ResourcePath) -> ResourcePath {
        guard !model.isNative else { return path }
        var path = path
        var shape: TypeShape?
        for (index, segment) in path.segments.enumerated() {
            guard case .name(let name, let arguments) = segment else { continue }
            if index == 0 {
                shape = model.service.shape(ofSet: name.text)
            } else if let target = shape?.navigationProperty(name.text)?.target {
                shape = model.service.shape(target)
            }
            guard let shape else { continue }
            switch arguments {
            case .key(.single(let value)):
                let type = shape.key.first.flatMap { shape.property($0.path)?.type }
                path.segments[index] = .name(name, .key(.single(adapted(value, to: type))))
            case .named(let values):
                path.segments[index] = .name(
                    name,
                    .named(
                        values.map {
                            .init(name: $0.name, value: adapted($0.value, to: shape.property($0.name.text)?.type))
                        }))
            default: break
            }
        }
        return path
    }

    /// Returns an expression with literals in the types of the service, and with `contains` in place of
    /// `substringof`.
    func adapted(_ expression: CommonExpression, in shape: TypeShape) -> CommonExpression {
        switch expression {
        case .binary(let operation, let left, let right):
            return .binary(
                operation, adapted(adapted(left, in: shape), to: right.pathType(in: shape, of: model.service)),
                adapted(adapted(right, in: shape), to: left.pathType(in: shape, of: model.service)))
        case .call, .unary, .list, .typeTest:
            let adapted = expression.mapChildren { self.adapted($0, in: shape) }
            guard case .call(let name, let arguments) = adapted, name.text == "substringof", arguments.count == 2
            else { return adapted }
            return .call(Identifier("contains", at: name.offset), [arguments[1], arguments[0]])
        // The members of a collection have another type.
        case .path, .literal, .alias, .membership, .namedCall, .json: return expression
        }
    }

    /// Returns a literal converted to a type; other expressions are unchanged.
    private func adapted(_ expression: CommonExpression, to type: TypeReference?) -> CommonExpression {
        guard !model.isNative, case .literal(var literal) = expression else { return expression }
        switch (literal.value, type?.primitive.map { .primitive($0) } ?? type) {
        case (.dateTime(let instant), .primitive(.date)?) where instant.timeOfDay.picoseconds == 0:
            literal.value = .date(instant.date)
            literal.type = .date
        case (.dateTime(let instant), _) where type?.primitive != .dateTime:
            literal.value = .dateTimeOffset(
                ODataDateTimeOffset(seconds: instant.seconds, picoseconds: instant.picoseconds))
            literal.type = .dateTimeOffset
        case (.duration(let duration), .primitive(.timeOfDay)?):
            let seconds = duration.seconds.multipliedReportingOverflow(by: 1_000_000_000_000)
            let sum = seconds.partialValue.addingReportingOverflow(duration.picoseconds)
            guard !seconds.overflow, !sum.overflow, let time = ODataTimeOfDay(picoseconds: sum.partialValue) else {
                return expression
            }
            literal.value = .timeOfDay(time)
            literal.type = .timeOfDay
        case (.duration, _): literal.type = .duration
        case (.string(let text), .enumeration(let name)?):
            literal.enumeration = .init(type: name.description, members: text)
            literal.type = nil
        default: break
        }
        return .literal(literal)
    }
}
