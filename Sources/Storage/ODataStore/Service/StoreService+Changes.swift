import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Changes of a service. Each request, and each change set, runs in one transaction, which also stores the
/// response for repeated requests.
extension StoreService {
    /// Returns the response to a request that changes the store.
    func change(_ request: ODataRequest) async throws -> ODataResponse {
        let provider = provider(for: request.context.principal)
        let bound = try provider.bind(request)
        try checkBound(bound, request)
        try refuseVirtual(bound, request)
        // The stream of a repeated request is uploaded as well, because its digest identifies the request, and is
        // then discarded.
        let uploaded = try await uploaded(request, bound)
        let request = uploaded.request
        do {
            let prepared =
                uploaded.stream == nil ? try await provider.prepared(request, bound) : uploaded.request
            let outcome = try await transact([request]) { _ in
                [bound]
            } body: { [self] database in
                try request.context.budget.running(on: database) {
                    [
                        try perform(
                            Uploaded(request: prepared, stream: uploaded.stream), bound, provider: provider,
                            in: database)
                    ]
                }
            }
            if let stream = uploaded.stream, outcome.isRepeat { try await streams.discard(stream.id) }
            guard let performed = outcome.performed.first else { throw ODataError.notImplemented("This request") }
            var response = await completed(performed, request, bound: bound, provider: provider)
            if request.repeatability != nil { response.repeatabilityResult = .accepted }
            return response
        } catch {
            if let stream = uploaded.stream { try? await streams.discard(stream.id) }
            throw error
        }
    }

    /// The result of a request within its transaction.
    enum Performed: Sendable {
        /// A response, and the stored response if the two differ.
        case response(ODataResponse, remembered: RememberedRequests.Answer? = nil)
        /// The result of an action, which is read after the commit, and the stored response.
        case result(ComposedResult, RememberedRequests.Answer)
    }

    /// Performs a request inside a transaction.
    private func perform(
        _ uploaded: Uploaded, _ bound: BoundURL, provider: StoreProvider, in database: Database
    ) throws -> Performed {
        if bound.resource.operation == nil {
            try checkParents(of: bound.resource.steps, provider.reader, in: database)
        }
        if bound.resource.operation != nil {
            let (result, answer) = try callAction(bound, uploaded.request, in: database)
            return .result(result, answer)
        }
        if let response = try changeStream(uploaded, bound, provider: provider, in: database) {
            return .response(response)
        }
        return .response(try provider.perform(uploaded.request, bound, in: database))
    }

    /// Checks that the caller sees the parents of contained entities. Contained entities of an invisible parent
    /// are treated as missing.
    ///
    /// - Parameter reader: the reader of the caller.
    /// - Throws: ``ODataError`` 404.
    func checkParents(of steps: [BoundSegment], _ reader: StoreReader, in database: Database) throws {
        guard core.access != nil else { return }
        let compiler = SQLCompiler.Options(now: options.now())
        try reader.checkParents(steps, reader.restricting(compiler), in: database)
    }

    /// Checks that the caller may address the resource and, in a change of members, use the properties in the
    /// query options.
    private func checkBound(_ bound: BoundURL, _ request: ODataRequest) throws {
        try core.access?.checkPath(of: bound, request)
    }

    /// Returns the response in the requested form: with `$select` and `$expand` applied, stream information
    /// added and hidden properties removed.
    private func completed(
        _ performed: Performed, _ request: ODataRequest, bound: BoundURL, provider: StoreProvider
    ) async -> ODataResponse {
        switch performed {
        case .result(let result, _):
            guard let (operation, position) = bound.resource.operation else { return ODataResponse(status: 204) }
            if request.preferences.returns == .minimal {
                var response = ODataResponse(status: 204)
                response.preferencesApplied = ["return=minimal"]
                return response
            }
            var read = request
            read.method = .read
            read.ifMatch = nil
            // The next link of a page would call the action again.
            read.preferences.maxPageSize = nil
            // The action has succeeded even if its result cannot be read.
            return (try? await answer(result, operation, at: position, of: bound, request: read, provider: provider))
                ?? ODataResponse(status: 204)
        case .response(let response, _):
            // The change has succeeded even if the entity cannot be read.
            if let again = try? await readAgain(response, request, provider: provider) { return again }
            return await shown(response, request)
        }
    }

    /// Returns the response with the entity read again according to `$select` and `$expand`; `nil` if the
    /// request has neither.
    private func readAgain(
        _ response: ODataResponse, _ request: ODataRequest, provider: StoreProvider
    ) async throws -> ODataResponse? {
        let options = request.url.options
        guard case .entity(let entity) = response.body, let id = entity.control.id,
            !options.select.isEmpty || !options.expand.isEmpty, var url = try? ODataURL(parsing: id)
        else { return nil }
        url.options.select = options.select
        url.options.expand = options.expand
        let reading = ODataRequest(.read, url, format: request.format).sharing(request.context.budget)
        var response = response
        response.body = try await read(
            restricted(provider.bind(reading), request), reading, provider: provider
        ).body
        return response
    }

    /// Returns the response with stream information and without hidden properties. If the reading fails, the
    /// response has no body, because the change itself has succeeded.
    private func shown(_ response: ODataResponse, _ request: ODataRequest) async -> ODataResponse {
        if let shown = try? await described(response, request) { return shown }
        var bare = response
        bare.body = .none
        bare.status = 204
        bare.entityID = response.entityID ?? response.location
        return bare
    }

    private func described(_ response: ODataResponse, _ request: ODataRequest) async throws -> ODataResponse {
        var response = response
        try core.access?.restriction(for: request.context.principal).hide(in: &response)
        switch response.body {
        case .entity, .page: break
        default: return response
        }
        response.body = try await withStreams(response.body, root: "")
        return response
    }

    // MARK: Transactions

    /// The number of transactions between two cleanups of the log of changes.
    static let changesBetweenCleanups = 1000

    /// The outcome of a transaction.
    struct Outcome: Sendable {
        var performed: [Performed]
        /// Whether the requests were repeated and the responses are the stored ones.
        var isRepeat = false
    }

    /// Runs a transaction that takes effect once, even if its request is repeated (OData Repeatable Requests
    /// 1.0).
    ///
    /// - Parameters:
    ///   - requests: the requests, for their identification.
    ///   - bound: a closure that resolves the URLs of repeated requests from their stored responses. Actions
    ///     need it.
    ///   - body: a closure that makes the changes.
    private func transact(
        _ requests: [ODataRequest], _ bound: @escaping @Sendable ([ODataResponse]) throws -> [BoundURL?],
        body: @escaping @Sendable (Database) throws -> [Performed]
    ) async throws -> Outcome {
        let budget = requests.first?.context.budget
        return try await gate.change {
            try Task.checkCancellation()
            return try await budget.shielding { try await self.transactNow(requests, bound, body: body) }
        }
    }

    private func transactNow(
        _ requests: [ODataRequest], _ bound: @Sendable ([ODataResponse]) throws -> [BoundURL?],
        body: @escaping @Sendable (Database) throws -> [Performed]
    ) async throws -> Outcome {
        if changeCount.wrappingAdd(1, ordering: .relaxed).newValue % Self.changesBetweenCleanups == 0 {
            try await forgetOldChanges()
        }
        let now = options.now().seconds
        let lifetime = options.repeatabilityLifetime
        guard let given = try Repeatability.shared(by: requests) else {
            return Outcome(
                performed: try await StoreReader.translating { try await database.write { try body($0) } })
        }
        let repeatable = try RepeatableRequest(requests, given, now: now, lifetime: lifetime)
        let fingerprint = RememberedRequests.fingerprint(requests)
        do {
            let (performed, answers) = try await database.write { database in
                let side = SideTables(database: database, schema: "main", requests: ServiceSchema.requestTable)
                let memory = try RememberedRequests.find(repeatable, fingerprint: fingerprint, in: side)
                if case .answered(let answers) = memory { return ([Performed](), answers) }
                let performed = try body(database)
                let kept = performed.map { performed -> RememberedRequests.Answer in
                    switch performed {
                    case .response(let response, let remembered): remembered ?? .init(response)
                    case .result(_, let answer): answer
                    }
                }
                try RememberedRequests.keep(
                    repeatable, fingerprint: fingerprint, answers: kept, now: now, lifetime: lifetime, in: side)
                return (performed, [])
            }
            var outcome = Outcome(performed: performed)
            if performed.isEmpty {
                outcome.isRepeat = true
                outcome.performed = try await repeated(answers, to: requests, bound)
            }
            outcome.performed = outcome.performed.map { performed in
                guard case .response(var response, _) = performed else { return performed }
                response.repeatabilityResult = .accepted
                return .response(response)
            }
            return outcome
        } catch {
            var refusal = ODataError(translating: error)
            // The request was processed as a repeatable request, even though it failed.
            if refusal.repeatabilityResult == nil { refusal.repeatabilityResult = .accepted }
            throw refusal
        }
    }

    /// Returns the response to an action in a change set. The result is read in the open transaction, with the
    /// access of the caller.
    private func response(
        to result: ComposedResult, _ request: ODataRequest, in database: Database
    ) throws -> ODataResponse {
        switch result {
        case .none: return ODataResponse(status: 204)
        case .value(let value, let type):
            return value.isNull ? ODataResponse(status: 204) : ODataResponse(body: .value(value, type))
        case .transient(let entities, let isCollection): return Self.response(entities, isCollection: isCollection)
        case .stored(let place, let order):
            var query = StoreReader.query(place.shape, place.set)
            query.orderBy = place.orderBy
            let target: BoundResource.Target =
                place.isCollection ? .entities(place.shape, set: place.set) : .entity(place.shape, set: place.set)
            let whole = BoundURL(resource: BoundResource(steps: place.steps, target: target), query: query)
            // The action has succeeded even if the caller may not see its result.
            guard let bound = try? restricted(whole, request), let query = bound.query else {
                return ODataResponse(status: 204)
            }
            let reader = core.reader(for: request.context.principal)
            let (compiled, options) = try reader.prepare(
                query, bound.resource.steps, now: options.now(), in: database)
            var paging = ExpandPaging()
            paging.budget = request.context.budget
            var entities = try StoreReader.entities(
                compiled, query, mapping: core.mapping, options: options, in: database,
                limit: place.isCollection ? .max : 1, paging: paging)
            if let order {
                let positions = Dictionary(
                    order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
                entities.sort {
                    positions[$0.control.id ?? "", default: .max] < positions[$1.control.id ?? "", default: .max]
                }
            }
            return Self.response(entities, isCollection: place.isCollection)
        }
    }

    private static func response(_ entities: [ODataEntity], isCollection: Bool) -> ODataResponse {
        if isCollection { return ODataResponse(body: .page(EntityPage(entities: entities))) }
        guard let entity = entities.first else { return ODataResponse(status: 204) }
        return ODataResponse(body: .entity(entity), etag: entity.control.etag)
    }

    /// Returns the stored responses to requests, with the current state of their entities.
    private func repeated(
        _ answers: [RememberedRequests.Answer], to requests: [ODataRequest],
        _ bound: @Sendable ([ODataResponse]) throws -> [BoundURL?]
    ) async throws -> [Performed] {
        var responses: [ODataResponse] = []
        for (answer, request) in zip(answers, requests) {
            responses.append(
                try await answer.response(to: request) { try await execute($0.sharing(request.context.budget)) })
        }
        let urls = answers.contains { $0.result != nil } ? try bound(responses) : []
        var performed: [Performed] = []
        for (position, response) in responses.enumerated() {
            let url = urls.dropFirst(position).first ?? nil
            if let result = try await repeated(answers[position], url, request: requests[position]) {
                performed.append(.result(result, answers[position]))
            } else {
                performed.append(.response(response))
            }
        }
        return performed
    }

    /// Returns the stored result of an action; `nil` for other requests.
    private func repeated(
        _ answer: RememberedRequests.Answer, _ bound: BoundURL?, request: ODataRequest
    ) async throws -> ComposedResult? {
        guard let result = answer.result, let operation = bound?.resource.operation?.operation else { return nil }
        return try await StoreReader.translating { [core] in
            try await database.read { database in
                let transaction = ServiceTransaction(core: core, database: database, request: request)
                return try ComposedResult(
                    result.result(of: operation, in: transaction), operation, transaction: transaction)
            }
        }
    }

    // MARK: Batches

    /// Returns the responses to the requests of a batch in order. Each change set is one transaction.
    ///
    /// Under snapshot isolation, all requests see the same state, apart from their own changes.
    func batch(_ items: [BatchItem], of request: ODataRequest) async throws -> ODataResponse {
        guard request.isolation == .snapshot, !ChangeGate.isOwner else { return try await run(items, of: request) }
        return try await gate.alone { try await run(items, of: request) }
    }

    private func run(_ items: [BatchItem], of request: ODataRequest) async throws -> ODataResponse {
        let budget = request.context.budget
        budget?.share(among: items.count)
        return try await BatchRun(
            model: model, single: { try await self.execute($0.sharing(budget)) },
            changeSet: { requests, resolve in
                try await self.changeSet(requests.map { $0.sharing(budget) }, resolve)
            },
            observer: request.batchObserver
        ).run(items, continueOnError: request.preferences.continueOnError)
    }

    private func changeSet(
        _ requests: [ODataRequest], _ resolve: @escaping BatchRun.Resolver
    ) async throws -> [ODataResponse] {
        var prepared: [ODataRequest] = []
        for var request in requests.map({ $0.digested(model) }) {
            for case .before(let body) in core.definition.requestInterceptors { try await body(&request) }
            prepared.append(request)
        }
        let provider = provider(for: prepared.first?.context.principal)
        let outcome = try await transact(prepared) { [prepared] responses in
            var bound: [BoundURL?] = []
            _ = try resolve(prepared) { request in
                bound.append(try? provider.bind(request))
                return responses[bound.count - 1]
            }
            return bound
        } body: { [self, prepared] database in
            var remembered: [RememberedRequests.Answer?] = []
            let budget = prepared.first?.context.budget
            let responses = try budget.running(on: database) {
                try resolve(prepared) { request in
                    if case .media = request.body { throw ODataError.notImplemented("Streams in a change set") }
                    let bound = try provider.bind(request)
                    try checkBound(bound, request)
                    try refuseVirtual(bound, request)
                    switch try perform(Uploaded(request: request), bound, provider: provider, in: database) {
                    case .response(let response, let answer):
                        remembered.append(answer)
                        return response
                    case .result(let result, let answer):
                        remembered.append(answer)
                        return try response(to: result, request, in: database)
                    }
                }
            }
            return zip(responses, remembered).map { .response($0, remembered: $1) }
        }
        var responses: [ODataResponse] = []
        for (request, performed) in zip(prepared, outcome.performed) {
            let made: ODataResponse
            switch performed {
            case .response(let response, _): made = response
            case .result(let result, _):
                made = try await StoreReader.translating {
                    try await request.context.budget.reading(from: database) { [self] database in
                        try self.response(to: result, request, in: database)
                    }
                }
            }
            var response: ODataResponse
            // The change has succeeded even if the entity cannot be read.
            if let again = try? await readAgain(made, request, provider: provider) {
                response = again
            } else {
                response = await shown(made, request)
            }
            if request.repeatability != nil { response.repeatabilityResult = .accepted }
            for case .after(let body) in core.definition.requestInterceptors { try await body(request, &response) }
            responses.append(response)
        }
        return responses
    }
}
