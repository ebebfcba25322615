import ODataModel
import ODataQuery
import ODataService

/// Reads the rows of a defining query at its back end, page by page (`mobile-server.md` 5.5 and 5.6).
struct FeedSource: Sendable {
    /// The greatest number of pages of one read.
    static let pageLimit = 1_000_000
    /// The number of keys that are confirmed in one request.
    static let confirmationSize = 20

    let provider: any ODataProvider
    let definition: FeedDefinition

    /// A read that must not be compared with the stored rows.
    struct Unreliable: Error, CustomStringConvertible {
        let description: String
    }

    /// The end of a read.
    struct End: Sendable {
        /// The delta link of the back end, if it gave one.
        let deltaLink: String?
    }

    /// Reads all rows.
    ///
    /// - Parameters:
    ///   - wantsLink: Whether to ask for a delta link.
    ///   - take: Receives the entities of each page.
    /// - Throws: ``Unreliable`` for a read that ends too early or goes round in circles; errors of the back end.
    func readAll(wantsLink: Bool, _ take: ([ODataEntity]) async throws -> Void) async throws -> End {
        var request = ODataRequest(.read, definition.url)
        request.preferences.trackChanges = wantsLink
        request.preferences.maxPageSize = 1000
        return try await pages(from: request) { page in
            guard page.removed.isEmpty else { throw Unreliable(description: "A full read contained removals.") }
            try await take(page.entities)
        }
    }

    /// Reads the changes since a delta link.
    func readChanges(
        since link: String, _ take: (EntityPage) async throws -> Void
    ) async throws -> End {
        let end = try await pages(from: ODataRequest(following: link), take)
        guard end.deltaLink != nil else { throw Unreliable(description: "A delta had no delta link at its end.") }
        return end
    }

    private func pages(
        from first: ODataRequest, _ take: (EntityPage) async throws -> Void
    ) async throws -> End {
        var request = first
        var visited: Set<String> = []
        for _ in 0..<Self.pageLimit {
            guard case .page(let page) = try await provider.execute(request).body else {
                throw Unreliable(description: "The back end sent no collection.")
            }
            try await take(page)
            guard let next = page.nextLink else { return End(deltaLink: page.deltaLink) }
            guard visited.insert(next).inserted else {
                throw Unreliable(description: "The pages go round in a circle.")
            }
            request = ODataRequest(following: next)
            request.preferences.maxPageSize = 1000
        }
        throw Unreliable(description: "The read has too many pages.")
    }

    /// Reads one entity with the properties of the query; `nil` if it does not exist.
    func entity(_ key: EntityKey) async throws -> ODataEntity? {
        var url = ODataURL(set: definition.codec.set.name, key: key, model: definition.codec.model)
        url.options.select = definition.url.options.select
        url.options.expand = definition.url.options.expand
        do {
            guard case .entity(let entity) = try await provider.execute(ODataRequest(.read, url)).body else {
                return nil
            }
            return entity
        } catch let error as ODataError where error.status == 404 || error.status == 410 {
            return nil
        }
    }

    /// Returns the rows of keys that a full read did not contain and that still belong to the result (`rules.md` 15): a
    /// row may have moved from one page to another while the pages were read.
    func confirmed(_ keys: [EntityKey]) async throws -> [ODataEntity] {
        var found: [ODataEntity] = []
        var index = 0
        while index < keys.count {
            let chunk = keys[index..<min(index + Self.confirmationSize, keys.count)]
            index += Self.confirmationSize
            do {
                found += try await matching(chunk)
            } catch let error as ODataError where [400, 404, 405, 501].contains(error.status) {
                // The back end does not filter by keys: each row is asked for.
                for key in chunk {
                    guard let entity = try await entity(key) else { continue }
                    guard !definition.isFiltered else {
                        throw Unreliable(description: "The back end cannot say whether a row still matches the query.")
                    }
                    found.append(entity)
                }
            }
        }
        return found
    }

    private func matching(_ keys: ArraySlice<EntityKey>) async throws -> [ODataEntity] {
        let conditions = keys.map { $0.condition(definition.codec.shape, definition.codec.model) }
        var url = definition.url
        let keysMatch = conditions.joined(.or)
        url.options.filter = url.options.filter.map { .binary(.and, $0, keysMatch) } ?? keysMatch
        url.options.orderBy = []
        var rows: [ODataEntity] = []
        _ = try await pages(from: ODataRequest(.read, url)) { rows += $0.entities }
        // A back end that ignores filters confirms everything, and nothing.
        let wanted = Set(keys)
        guard rows.allSatisfy({ $0.key.map { wanted.contains($0) } ?? false }) else {
            throw ODataError.notImplemented("$filter by keys")
        }
        return rows
    }
}

extension EntityKey {
    /// The condition that an entity has the key.
    func condition(_ shape: TypeShape?, _ model: EntityDataModel) -> CommonExpression {
        let values: [CommonExpression] =
            switch KeyPredicate(self, shape: shape, model: model) {
            case .single(let value): [value]
            case .compound(let arguments): arguments.map(\.value)
            }
        return zip(parts, values).map { part, value in
            let path = shape?.key.first { $0.name == part.name }?.path ?? part.name
            return CommonExpression.binary(.equal, QueryExpression.property(path).expression, value)
        }.joined(.and)
    }
}

extension [CommonExpression] {
    /// The expressions, joined by an operator; `true` for none.
    fileprivate func joined(_ operation: BinaryOperator) -> CommonExpression {
        guard let first else { return .literal(Literal(.boolean(true))) }
        return dropFirst().reduce(first) { .binary(operation, $0, $1) }
    }
}
