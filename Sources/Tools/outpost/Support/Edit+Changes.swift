import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

/// The changes that the editing commands and the lines of a change set make.
extension Edit.Editor {
    /// A change, and how it is reported.
    struct Change: Sendable {
        var request: ODataRequest
        /// The report, such as `Created`.
        var done: String
        /// The entity that is reported; that of the response if left out.
        var entity: String?

        /// The entity that was changed, as the response tells.
        func entity(in response: ODataResponse) -> String {
            if let entity { return entity }
            if let location = response.location ?? response.entityID { return location }
            if case .entity(let entity) = response.body, let id = entity.control.id { return id }
            return request.url.description
        }
    }

    /// The creation of an entity.
    ///
    /// - Parameter body: the entity as JSON, with related ones in it.
    func creation(in set: String, _ properties: [String], body: [UInt8]? = nil) throws -> Change {
        let (url, shape) = try collection(set)
        let given = try body.map { try self.entity(shape, json: $0) }
        let entity = try self.entity(shape, properties, isNew: true, adding: given)
        return Change(request: ODataRequest(.create, url, body: .entity(entity)), done: translated("Created"))
    }

    /// The change of an entity.
    ///
    /// - Parameter body: the changes as JSON.
    func update(of text: String, _ properties: [String], body: [UInt8]? = nil) throws -> Change {
        let (url, shape) = try single(text)
        let given = try body.map { try self.entity(shape, json: $0) }
        let changes = try entity(shape, properties, isNew: false, adding: given)
        // With a condition, since an update of an entity that is not there would create it (11.4.4): a mistyped key
        // must not become an entity at the service.
        return Change(
            request: ODataRequest(.update, url, body: .entity(changes), ifMatch: "*"), done: translated("Changed"))
    }

    /// The deletion of an entity.
    func deletion(of text: String) throws -> Change {
        let (url, _) = try single(text)
        return Change(request: ODataRequest(.delete, url), done: translated("Deleted"), entity: url.description)
    }

    /// A relation that is made.
    ///
    /// - Parameters:
    ///   - text: an entity with the navigation property, such as `Albums(1)/Tags`.
    ///   - target: the related entity.
    func link(_ text: String, to target: String) throws -> Change {
        var (url, navigation) = try relation(text)
        let entity = try single(target).0.description
        let relation = url.description
        url.path.segments.append(.reference)
        return Change(
            request: ODataRequest(navigation.isCollection ? .create : .replace, url, body: .reference(entity)),
            done: translated("Linked"), entity: translated("\(relation) to \(entity)"))
    }

    /// A relation that is taken away.
    ///
    /// - Parameter target: the related entity; only a relation to a single entity may leave it out.
    func unlink(_ text: String, from target: String?) throws -> Change {
        var (url, navigation) = try relation(text)
        let relation = url.description
        url.path.segments.append(.reference)
        guard let target else {
            guard !navigation.isCollection else {
                throw Failure(
                    message: "\(text) leads to several entities.",
                    advice: "Name the one to take away: outpost unlink DIR \(text.shellQuoted) 'SET(KEY)'",
                    status: .misused)
            }
            return Change(request: ODataRequest(.delete, url), done: translated("Unlinked"), entity: relation)
        }
        let entity = try single(target).0.description
        if navigation.isCollection { url.options.id = entity }
        return Change(
            request: ODataRequest(.delete, url), done: translated("Unlinked"),
            entity: translated("\(relation) from \(entity)"))
    }

    /// The call of an action.
    func call(_ operation: CalledOperation, _ arguments: [String]) throws -> Change {
        var values: [String: ODataValue] = [:]
        let parameters = operation.parameters
        for argument in arguments {
            let (name, text) = try Self.pair(argument)
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                throw operation.unknownParameter(name)
            }
            values[name] = try value(text, of: name, parameter.type)
        }
        return Change(
            request: ODataRequest(.create, operation.url, body: .parameters(values)), done: translated("Called"),
            entity: operation.url.description)
    }

    /// Reads an entity in the OData JSON format.
    private func entity(_ shape: TypeShape, json: [UInt8]) throws -> ODataEntity {
        do throws(PayloadError) {
            return try EntityPayloadReader(model: provider.model, strictness: .strict).read(json, type: shape.name)
                .entity
        } catch {
            throw Failure(
                message: "The body is no \(shape.name.name): \(error).",
                advice: "It is an entity as 'outpost query DIR ENTITY --json' prints it, with related entities in it.",
                status: .misused)
        }
    }

    /// The navigation property at the end of an address.
    private func relation(_ text: String) throws -> (ODataURL, NavigationProperty) {
        let url = try ODataURL(parsing: address(text))
        let bound = try Binder(model: provider.model).bind(url).resource
        if case .navigation(let navigation, _, _)? = bound.steps.last { return (url, navigation) }
        var advice: TerminalText =
            "Name an entity and one of its navigation properties, such as Orders(10248)/Customer."
        if case .entity(let shape, _) = bound.target {
            let names = shape.navigationProperties.map(\.name)
            advice =
                names.isEmpty
                ? "\(shape.name.name) has no navigation property."
                : "Name one of its navigation properties: \(names.map { "\(text)/\($0)" }.joined(separator: ", "))"
        }
        throw Failure(message: "\(text) is no relation.", advice: advice, status: .misused)
    }
}
