import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// The client's part of OASIS Repeatable Requests 1.0 (rules 1 and 2).
@Suite struct RepeatabilityTests {
    private static let order = "{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1}"
    private static let supported = "<Annotation Term=\"Org.OData.Repeatability.V1.Supported\" Bool=\"true\"/>"

    private func create(_ client: ODataClient) async throws {
        try await DataService(client).create(try await ShopMetadata.entity(["ID": 1], of: client), in: "Orders")
    }

    @Test func `changes are identified where the metadata says that repeats are recognised`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4(container: Self.supported)) { _, _ in
            .json(Self.order, status: 201, ["Repeatability-Result": "accepted"])
        }
        let client = try transport.client()
        try await create(client)
        try await create(client)
        _ = try await DataService(client).entity("Orders", key: 1)
        let ids = transport.sent.map { $0["Repeatability-Request-ID"] }
        #expect(ids[0] != nil && ids[1] != nil && ids[0] != ids[1])
        #expect(ids[2] == nil, "reads need none")
        let date = try #require(transport.sent[0]["Repeatability-First-Sent"])
        #expect(date.wholeMatch(of: /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/) != nil, "\(date)")
    }

    @Test func `an accepted one shows that repeats are recognised, silence shows nothing`() async throws {
        let silent = WireScript(metadata: ShopMetadata.v4()) { _, _ in .json(Self.order, status: 201) }
        let client = try silent.client()
        try await create(client)
        #expect(silent.sent[0]["Repeatability-Request-ID"] == nil)
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .json(Self.order, status: 201, ["Repeatability-Result": "accepted"])
        }
        let other = try transport.client()
        try await create(other)
        try await create(other)
        #expect(transport.sent.map { $0["Repeatability-Request-ID"] != nil } == [false, true])
    }

    @Test("rule 2 501 with rejected: the request is sent once more without the fields")
    func rejected() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent["Repeatability-Request-ID"] == nil
                ? .json(Self.order, status: 201) : .refusal(501, ["Repeatability-Result": "rejected"])
        }
        let client = try transport.client(.init(repeatability: .always, repeatabilityClientID: "me"))
        try await create(client)
        try await create(client)
        #expect(transport.sent.map { $0["Repeatability-Client-ID"] } == ["me", nil, nil])
    }

    @Test("rule 2 501 with rejected: a request with the caller's own fields is not sent again")
    func rejectedRepeat() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .refusal(501, ["Repeatability-Result": "rejected"])
        }
        let client = try transport.client()
        var request = ODataRequest(
            .create, try ODataURL(parsing: "Orders"),
            body: .entity(try await ShopMetadata.entity(["ID": 1], of: client)))
        request.repeatability = Repeatability(requestID: "1", firstSent: "Tue, 15 Nov 1994 08:12:31 GMT")
        let repeated = request
        let error = await #expect(throws: ODataError.self) { try await client.execute(repeated) }
        #expect(error?.status == 501 && error?.repeatabilityResult == .rejected)
        #expect(transport.sent.count == 1)
    }

    @Test("rule 2 412 with rejected is an unknown outcome and no ETag conflict")
    func expired() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get
                ? .json(Self.order, ["ETag": "W/\"1\""]) : .refusal(412, ["Repeatability-Result": "rejected"])
        }
        let service = try transport.service(.init(repeatability: .always))
        var order = try #require(try await service.entity("Orders", key: 1))
        order["City"] = "Linz"
        let changed = order
        let error = await #expect(throws: ODataError.self) { try await service.update(changed, in: "Orders") }
        let diagnosis = ErrorDiagnosis(try #require(error))
        #expect(diagnosis.code == .repeatExpired)
        #expect(diagnosis.recovery == .lookBeforeRepeating)
    }

    @Test func `of a batch each change is identified, and a refusal of all of them sends it again without`()
        async throws
    {
        let refusal = """
            --b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 501 Not Implemented\r\n\
            Repeatability-Result: rejected\r\nContent-Length: 0\r\n\r\n\r\n--b--\r\n
            """
        let success = """
            --b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n\r\n\
            --b--\r\n
            """
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            let isIdentified = sent.body.contains("Repeatability-Request-ID")
            return .init(
                fields: ["Content-Type": "multipart/mixed; boundary=b"], body: isIdentified ? refusal : success)
        }
        let client = try transport.client(.init(repeatability: .always))
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        for _ in 1...2 {
            let results = try await DataService(client).batch {
                BatchOperation.create(order, in: "Orders", id: "1")
            }
            #expect(results.refusals.isEmpty)
        }
        #expect(transport.sent.map { $0["Repeatability-Request-ID"] } == [nil, nil, nil], "the batch itself is not")
        #expect(
            transport.sent.map { $0.body.contains("Repeatability-Request-ID") } == [true, false, false],
            "\(transport.sent.map(\.body))")
    }
}
