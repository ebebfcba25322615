import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

/// SAP Gateway and Apache Olingo behave in this way, since V2 has no preference for delta links.
@Suite("A service of OData 2.0 with its own delta links")
struct OlderDeltaTests {
    private func names(_ store: OfflineStore) async throws -> [ODataValue?] {
        try await store.rows("Rooms?$orderby=Id").map { $0["Name"] }
    }

    @Test(
        "sends new, changed and removed rows with them, in any formats",
        arguments: [("application/json", "application/atom+xml"), ("application/atom+xml", "application/json")])
    func changes(format: String, deltaFormat: String) async throws {
        let hotel = Hotel()
        var options = OfflineStore.Options()
        options.sync.definingQueryFormat = format
        options.sync.deltaQueryFormat = deltaFormat
        let store = try await hotel.store(options)
        let first = try await store.download()
        #expect(first.queries.map(\.method) == [.first])
        #expect(first.inserted == 3)
        #expect(try await store.observe.status().queries.map(\.hasDeltaLink) == [true])
        hotel.put(1, "Changed")
        hotel.remove(2)
        hotel.put(4, "New")
        let second = try await store.download()
        #expect(second.queries.map(\.method) == [.delta])
        #expect((second.inserted, second.updated, second.removed) == (1, 1, 1))
        #expect(try await names(store) == ["Changed", "Room 3", "New"])
        #expect(try await store.download().received == 0, "the link of the delta goes on from there")
        hotel.remove(3)
        #expect(try await store.download().removed == 1)
        #expect(try await names(store) == ["Changed", "New"])
        #expect(hotel.asked.filter { $0.path.contains("$skiptoken") }.count == 1, "nothing was read as a whole again")
        let queries = hotel.asked.filter { $0.path.contains("/Rooms?") }
        #expect(Set(queries.filter { !$0.path.contains("!deltatoken") }.map(\.accept)) == [format])
        #expect(Set(queries.filter { $0.path.contains("!deltatoken") }.map(\.accept)) == [deltaFormat])
    }

    @Test("is asked for deltas in Atom by default, because some services omit removals in JSON")
    func withoutTombstonesInJSON() async throws {
        let hotel = Hotel(tellsDeletionsInJSON: false)
        let store = try await hotel.store()
        try await store.download()
        hotel.remove(2)
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [.delta])
        #expect(report.removed == 1)
        #expect(try await names(store) == ["Room 1", "Room 3"])
    }

    @Test("is compared completely after an expired token, and its new link is used from then on")
    func expired() async throws {
        let hotel = Hotel()
        let store = try await hotel.store()
        try await store.download()
        hotel.put(1, "Changed")
        hotel.remove(2)
        hotel.forgetTokens()
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [.refresh])
        #expect((report.inserted, report.updated, report.removed) == (0, 1, 1))
        #expect(try await names(store) == ["Changed", "Room 3"])
        hotel.put(3, "Later")
        #expect(try await store.download().queries.map(\.method) == [.delta])
        #expect(try await names(store) == ["Changed", "Later"])
    }

    @Test(
        "is followed if its links have another letter case or a session segment",
        arguments: ["http://hotel.test/V2/", "http://hotel.test/v2/(S(abc))/", "/V2/"])
    func foreignLinks(prefix: String) async throws {
        let hotel = Hotel(links: prefix)
        let store = try await hotel.store()
        #expect(try await store.download().inserted == 3)
        hotel.put(1, "Changed")
        hotel.remove(2)
        let second = try await store.download()
        #expect(second.queries.map(\.method) == [.delta])
        #expect((second.updated, second.removed) == (1, 1))
        #expect(try await names(store) == ["Changed", "Room 3"])
    }
}

/// A V2 service with rooms. Each full read and each delta ends with a relative delta link. Tombstones follow
/// RFC 6721 in Atom, and deleted entities of V4 in JSON.
private final class Hotel: HTTPTransport {
    /// A received request.
    struct Asked: Sendable {
        var path: String
        var accept: String
    }

    private struct State: Sendable {
        var rooms: [Int: String] = [1: "Room 1", 2: "Room 2", 3: "Room 3"]
        /// The time of the last change or deletion of each room.
        var touched: [Int: Int] = [:]
        var now = 0
        /// The oldest token that the service accepts.
        var oldest = 0
        var asked: [Asked] = []
    }

    private struct Answer: Sendable {
        var status = 200
        var type = "application/json"
        var text: String
    }

    private static let root = "http://hotel.test/v2/"
    private static let pageSize = 2

    private let directory: URL
    private let tellsDeletionsInJSON: Bool
    private let links: String
    private let state = Mutex(State())

    /// - Parameter links: the prefix of the links.
    init(tellsDeletionsInJSON: Bool = true, links: String = "") {
        self.links = links
        self.tellsDeletionsInJSON = tellsDeletionsInJSON
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var asked: [Asked] { state.withLock { $0.asked } }

    func put(_ id: Int, _ name: String) { touch(id) { $0.rooms[id] = name } }

    func remove(_ id: Int) { touch(id) { $0.rooms[id] = nil } }

    private func touch(_ id: Int, _ change: (inout State) -> Void) {
        state.withLock { state in
            state.now += 1
            state.touched[id] = state.now
            change(&state)
        }
    }

    func forgetTokens() {
        state.withLock { state in
            state.now += 1
            state.oldest = state.now
        }
    }

    /// Creates a store without a download.
    func store(_ options: OfflineStore.Options = .init()) async throws -> OfflineStore {
        try await OfflineStore.create(
            at: directory.appendingPathComponent("clone").path, protection: .unencrypted, serviceRoot: Self.root,
            remote: try ODataClient(serviceRoot: Self.root, transport: self), options: options)
    }

    // MARK: Answers

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let path = (request.path ?? "").removingPercentEncoding ?? ""
        let accept = request.headerFields[.accept] ?? ""
        let present = state.withLock { state in
            state.asked.append(Asked(path: path, accept: accept))
            return state
        }
        let answer = answer(path, inAtom: accept.hasPrefix("application/atom+xml"), present)
        var response = HTTPResponse(status: .init(code: answer.status))
        response.headerFields[.contentType] = answer.type
        return (response, ByteStream(Array(answer.text.utf8)))
    }

    private func answer(_ path: String, inAtom: Bool, _ state: State) -> Answer {
        if path.contains("$metadata") { return Answer(type: "application/xml", text: Self.metadata) }
        if path.contains("/$count") { return Answer(type: "text/plain", text: "\(state.rooms.count)") }
        if let token = path.firstMatch(of: /!deltatoken='(\d+)'/).flatMap({ Int($0.1) }) {
            guard token >= state.oldest else { return Self.refusal(410) }
            let changed = state.touched.filter { $0.value > token }.keys.sorted()
            return feed(
                changed.filter { state.rooms[$0] != nil }, gone: changed.filter { state.rooms[$0] == nil }, state,
                delta: state.now, inAtom: inAtom)
        }
        if let id = path.firstMatch(of: /Rooms\((\d+)L?\)/).flatMap({ Int($0.1) }) {
            guard let name = state.rooms[id] else { return Self.refusal(404) }
            return Answer(text: "{\"d\":\(Self.json(id, name))}")
        }
        let wanted = path.matches(of: /Id eq (\d+)L?/).compactMap { Int($0.1) }
        if !wanted.isEmpty { return feed(wanted.filter { state.rooms[$0] != nil }, state, inAtom: inAtom) }
        let skipped = path.firstMatch(of: /\$skiptoken=(\d+)/).flatMap { Int($0.1) } ?? 0
        let rest = state.rooms.keys.sorted().dropFirst(skipped)
        let isLast = rest.count <= Self.pageSize
        return feed(
            Array(rest.prefix(Self.pageSize)), state, next: isLast ? nil : skipped + Self.pageSize,
            delta: isLast ? state.now : nil, inAtom: inAtom)
    }

    private func feed(
        _ ids: [Int], gone: [Int] = [], _ state: State, next: Int? = nil, delta: Int? = nil, inAtom: Bool
    ) -> Answer {
        let rooms = ids.map { ($0, state.rooms[$0] ?? "") }
        let next = next.map { "\(self.links)Rooms?$skiptoken=\($0)" }
        let delta = delta.map { "\(self.links)Rooms?!deltatoken='\($0)'" }
        guard inAtom else {
            let told = tellsDeletionsInJSON ? gone : []
            let results = rooms.map { Self.json($0.0, $0.1) } + told.map(Self.deletedJSON)
            let links = next.map { ",\"__next\":\"\($0)\"" } ?? delta.map { ",\"__delta\":\"\($0)\"" } ?? ""
            return Answer(text: "{\"d\":{\"results\":[\(results.joined(separator: ","))]\(links)}}")
        }
        let entries = rooms.map { Self.entry($0.0, $0.1) } + gone.map(Self.tombstone)
        let links = [("next", next), ("delta", delta)].map { relation, link in
            link.map { "<link rel=\"\(relation)\" href=\"\($0)\"/>" } ?? ""
        }
        return Answer(
            type: "application/atom+xml;type=feed",
            text: """
                <feed xmlns="http://www.w3.org/2005/Atom" xml:base="\(Self.root)"
                xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
                xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">
                <id>\(Self.root)Rooms</id><title type="text">Rooms</title><updated>2014-01-21T09:15:52Z</updated>
                \(entries.joined())\(links.joined())</feed>
                """)
    }

    private static func json(_ id: Int, _ name: String) -> String {
        """
        {"__metadata":{"id":"\(root)Rooms(\(id)L)","uri":"\(root)Rooms(\(id)L)","type":"Hotel.Room"},\
        "Id":"\(id)","Name":"\(name)"}
        """
    }

    private static func deletedJSON(_ id: Int) -> String {
        """
        {"@odata.context":"$metadata#Rooms/$deletedEntity","id":"\(root)Rooms(\(id)L)",\
        "when":"/Date(1300561560000)/"}
        """
    }

    private static func entry(_ id: Int, _ name: String) -> String {
        """
        <entry><id>\(root)Rooms(\(id)L)</id><title type="text"/><updated>2014-01-21T09:15:52Z</updated>
        <category term="Hotel.Room" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
        <link href="Rooms(\(id)L)" rel="edit" title="Room"/><content type="application/xml"><m:properties>
        <d:Id>\(id)</d:Id><d:Name>\(name)</d:Name></m:properties></content></entry>
        """
    }

    private static func tombstone(_ id: Int) -> String {
        """
        <at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="\(root)Rooms(\(id)L)"
        when="2014-01-14T18:11:06Z"/>
        """
    }

    private static func refusal(_ status: Int) -> Answer {
        Answer(
            status: status,
            text: #"{"error":{"code":"RBAM/042","message":{"lang":"en","value":"That is not known any more."}}}"#)
    }

    private static let metadata = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
        xmlns:sap="http://www.sap.com/Protocols/SAPData"><edmx:DataServices m:DataServiceVersion="2.0">
        <Schema Namespace="Hotel" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="Room"><Key><PropertyRef Name="Id"/></Key>
        <Property Name="Id" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" MaxLength="40" sap:label="Name"/></EntityType>
        <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Rooms" EntityType="Hotel.Room"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
}
