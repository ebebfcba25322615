import Foundation
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL
@testable import ODataStore

// The tests count open files and must not run in parallel.
@Suite("A service on its own model: links, change sets, repeats and snapshots, with authorisation", .serialized)
struct ServiceChangeTests {
    private static let ann = Principal(name: "ann")
    private static let reader = Principal(name: "reader")
    private static let root = Principal(name: "root")
    private static let (mug, cup, plan) = (
        "10000000-0000-0000-0000-000000000001", "10000000-0000-0000-0000-000000000002",
        "10000000-0000-0000-0000-000000000003"
    )

    private func bazaar(
        options: StoreService.Options = StoreService.Options(),
        _ change: (inout ServiceDefinition) throws -> Void = { _ in }
    ) async throws -> Bazaar {
        let bazaar = try await Bazaar(options: options) { definition in
            definition.authorization = { principal, set in
                switch principal?.name {
                case nil: return .none
                case "reader": return .readOnly
                case "root": return .full
                default: return set == "Products" ? Access(rowFilter: "Name ne 'Plan'") : .full
                }
            }
            try change(&definition)
        }
        let rows = [(Self.mug, "Mug"), (Self.cup, "Cup"), (Self.plan, "Plan")].map {
            #"{"ID":"\#($0)","Name":"\#($1)"}"#
        }
        try await bazaar.service.seed(json: Array(#"{"Products":[\#(rows.joined(separator: ","))]}"#.utf8))
        return bazaar
    }

    private static func related(_ bazaar: Bazaar) async throws -> [String] {
        try await bazaar.names("Products(\(mug))/Related?$orderby=Name", principal: root)
    }

    private static func id(_ product: String) -> String { #"{"id":"Products(\#(product))"}"# }

    @Test("Links require the right to update and a visible target")
    func links() async throws {
        let bazaar = try await bazaar()
        let references = "Products(\(Self.mug))/Related/$ref"
        func refusal(
            _ method: ODataRequest.Method, _ url: String, _ json: String? = nil, _ principal: Principal
        ) async throws -> Int? { try await bazaar.refusal(method, url, json, principal: principal)?.status }
        #expect(try await refusal(.create, references, Self.id(Self.cup), Self.reader) == 403)
        #expect(try await refusal(.create, references, Self.id(Self.plan), Self.ann) == 400)
        #expect(try await Self.related(bazaar) == [])
        #expect(try await refusal(.create, references, Self.id(Self.cup), Self.ann) == nil)
        #expect(try await refusal(.create, references, Self.id(Self.plan), Self.root) == nil)
        #expect(try await refusal(.delete, "Products(\(Self.mug))/Related(\(Self.cup))/$ref", nil, Self.reader) == 403)
        #expect(try await refusal(.delete, "Products(\(Self.mug))/Related(\(Self.plan))/$ref", nil, Self.ann) == 404)
        #expect(try await refusal(.replace, references, #"{"value":[]}"#, Self.reader) == 403)
        #expect(
            try await refusal(.replace, references, #"{"value":[]}"#, Self.ann) == 403,
            "one of them is none that she sees")
        #expect(try await Self.related(bazaar) == ["Cup", "Plan"])
        #expect(try await refusal(.delete, "Products(\(Self.mug))/Related(\(Self.cup))/$ref", nil, Self.ann) == nil)
        #expect(try await Self.related(bazaar) == ["Plan"])
    }

    private func changeSet(_ requests: [ODataRequest], _ bazaar: Bazaar) async throws -> [ODataResponse] {
        let items = requests.enumerated().map { BatchItem(id: "\($0)", request: $1, atomicityGroup: "g") }
        let batch = ODataRequest(.create, try ODataURL(parsing: "$batch"), body: .batch(items))
        guard case .batch(let results) = try await bazaar.service.execute(batch).body else {
            throw ODataError.notFound("$batch")
        }
        return try results.map { try $0.result.get() }
    }

    @Test("Requests in a change set are executed as changed by interceptors")
    func intercepted() async throws {
        let bazaar = try await bazaar { definition in
            definition.beforeRequest { request in
                if request.headers["X-User"] == "ann" { request.context.principal = Self.ann }
                if case .entity(var entity) = request.body, entity["Name"] == "raw" {
                    entity["Name"] = "made"
                    request.body = .entity(entity)
                }
            }
        }
        var request = try bazaar.request(.create, "Products", #"{"Name":"raw"}"#)
        request.headers["X-User"] = "ann"
        guard case .entity(let entity)? = try await changeSet([request], bazaar).first?.body else {
            throw ODataError.notFound("entity")
        }
        #expect(entity["Name"] == "made")
        #expect(try await bazaar.names("Products?$filter=Name eq 'raw'", principal: Self.root) == [])
    }

    @Test("A repeat gets the first response if the caller may see the entity, else accepted")
    func repeats() async throws {
        let bazaar = try await bazaar()
        var request = try bazaar.request(.create, "Products", #"{"Name":"Jug"}"#, principal: Self.ann)
        request.repeatability = Repeatability(requestID: "r-1", firstSent: "Fri, 15 Jan 2027 07:00:00 GMT")
        let first = try await bazaar.service.execute(request)
        let second = try await bazaar.service.execute(request)
        guard case .entity(let entity) = second.body else { throw ODataError.notFound("entity") }
        #expect(entity["Name"] == "Jug" && second.status == 201 && second.location == first.location)
        try await bazaar.send(.update, try #require(first.location), #"{"Name":"Plan"}"#, principal: Self.root)
        let third = try await bazaar.service.execute(request)
        #expect(third.status == 204 && third.repeatabilityResult == .accepted)
        #expect(third.entityID ?? third.location == first.location)
    }

    @Test("A repeated action in a change set returns the same result")
    func repeatedActions() async throws {
        let bazaar = try await bazaar { definition in
            let product = Bazaar.name("Product")
            try definition.action("Price", on: .entity(product), returns: .primitive(.double)) { call in
                let price: Double = try call.boundEntity().read("Price")
                try call.transaction.update(call.boundEntity(), ["Price": .double(price + 1)])
                return .value(.double(price + 1))
            }
            try definition.action("Others", on: .entity(product), returns: .collection(.entity(product))) { _ in
                .query("Products?$filter=Name ne 'Mug'&$orderby=Name")
            }
        }
        var requests: [ODataRequest] = []
        for action in ["Price", "Others"] {
            requests.append(
                try bazaar.request(.create, "Products(\(Self.mug))/Bazaar.\(action)", "{}", principal: Self.root))
        }
        requests.append(try bazaar.request(.create, "Categories", #"{"Name":"Kitchen"}"#, principal: Self.root))
        for index in requests.indices {
            requests[index].repeatability = Repeatability(
                requestID: "r-2", firstSent: "Fri, 15 Jan 2027 07:00:00 GMT")
        }
        for _ in 0..<2 {
            let responses = try await changeSet(requests, bazaar)
            #expect(responses.map(\.repeatabilityResult) == [.accepted, .accepted, .accepted])
            guard responses.count == 3, case .value(let price, _) = responses[0].body,
                case .page(let others) = responses[1].body, case .entity(let category) = responses[2].body
            else { throw ODataError.notFound("answer") }
            #expect(price == .double(2))
            #expect(others.entities.map { $0["Name"] } == ["Cup", "Plan"])
            #expect(category["Name"] == "Kitchen")
        }
    }

    @Test("An action in a change set returns only visible entities")
    func restrictedResults() async throws {
        let bazaar = try await bazaar { definition in
            try definition.action(
                "Others", on: .entity(QualifiedName("Bazaar", "Product")),
                returns: .collection(.entity(QualifiedName("Bazaar", "Product")))
            ) { _ in .query("Products?$filter=Name ne 'Mug'&$orderby=Name") }
        }
        let request = try bazaar.request(
            .create, "Products(\(Self.mug))/Bazaar.Others", "{}", principal: Self.ann)
        for response in [try await bazaar.service.execute(request)] + (try await changeSet([request], bazaar)) {
            guard case .page(let page) = response.body else { throw ODataError.notFound("page") }
            #expect(page.entities.map { $0["Name"] } == ["Cup"])
        }
    }

    // MARK: Snapshots

    private func snapshot(_ bazaar: Bazaar, _ url: String, pageSize: Int) async throws -> ODataResponse {
        var request = try bazaar.request(
            .read, url, preferences: Preferences(maxPageSize: pageSize), principal: Self.root)
        request.isolation = .snapshot
        request.format = ResponseFormat(serviceRoot: "http://s/")
        return try await bazaar.service.execute(request)
    }

    private func text(_ response: ODataResponse) async throws -> String {
        guard case .encoded(let stream, _) = response.body else { throw ODataError.notFound("page") }
        return String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self)
    }

    /// The number of snapshot files that this process has open.
    private var openFiles: Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return files.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
                .contains("outpost-snapshot-") ?? false
        }
    }

    @Test("A snapshot with a single page is not stored")
    func wholeSnapshots() async throws {
        let bazaar = try await bazaar()
        let before = openFiles
        var answers: [ODataResponse] = []
        for _ in 0..<30 { answers.append(try await snapshot(bazaar, "Products", pageSize: 10)) }
        #expect(openFiles < before + 60, "of other tests")
        for answer in answers { #expect(try await text(answer).contains("Plan")) }
    }

    @Test("Of too many snapshots, the least recently read one is removed, and its link gets 410")
    func tooManySnapshots() async throws {
        let bazaar = try await bazaar()
        func nextLink() async throws -> String {
            let text = try await text(snapshot(bazaar, "Products?$orderby=Name", pageSize: 1))
            let range = try #require(text.range(of: "\"@nextLink\":\""))
            bazaar.clock.advance(by: 1)
            return String(text[range.upperBound...].prefix { $0 != "\"" })
        }
        func status(_ link: String) async throws -> Int {
            var request = ODataRequest(
                following: link, preferences: Preferences(maxPageSize: 1),
                format: ResponseFormat(serviceRoot: "http://s/"))
            request.context.principal = Self.root
            do {
                #expect(try await text(bazaar.service.execute(request)).contains("Mug"))
                return 200
            } catch let error as ODataError { return error.status }
        }
        let (first, second) = (try await nextLink(), try await nextLink())
        #expect(try await status(first) == 200)
        for _ in 2...SnapshotLimits.defaultCount { _ = try await nextLink() }
        #expect(try await status(second) == 410)
        #expect(try await status(first) == 200, "it was read since")
    }
}
