import HTTPTypes
import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("Uploads to services that deviate from the standard")
struct LenientUploadTests {
    @Test("A response with another entity renames nothing")
    func anotherEntity() async throws {
        let service = OddService()
        let store = try await service.clone()
        service.answer { request in
            guard request.method == "PATCH" else { return nil }
            return .json(#"{"@odata.context":"$metadata#Items/$entity","ID":77,"Name":"other"}"#)
        }
        try await store.update("Items(1)", ["Name": "new"])
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.rows("Items").map { $0["ID"] } == [1])
    }

    @Test("A service that acts and then responds with 500 gets one order")
    func actsAndFails() async throws {
        let service = OddService()
        let store = try await service.clone()
        service.answer { $0.method == "POST" ? .refusal(500, "late") : nil }
        _ = try await store.create("Items", ["ID": 5, "Name": "e"])
        try await store.upload()
        #expect(service.requests.filter { $0.method == "POST" }.count == 1)
    }

    @Test(
        "A change is repeated without added fields after a refusal that proves no effect",
        arguments: [406, 415, 501])
    func proof(_ status: Int) async throws {
        let service = OddService()
        let store = try await service.clone()
        service.answer { request in
            guard request.method == "POST", request.fields[.init("Prefer")!] != nil else {
                return request.method == "POST" ? .json(#"{"ID":5,"Name":"e"}"#, status: 201) : nil
            }
            return .refusal(status)
        }
        _ = try await store.create("Items", ["ID": 5, "Name": "e"])
        #expect(try await store.upload().accepted.count == 1)
        #expect(service.requests.filter { $0.method == "POST" }.count == 2)
    }

    @Test("Keys become path segments if the service does not find them in parentheses")
    func keySegments() async throws {
        let service = OddService()
        let store = try await service.clone()
        service.answer { request in
            guard request.target.hasPrefix("Items("), !request.target.contains("$") else {
                guard request.target == "Items/1" else { return nil }
                if request.method == "PATCH" { return OddService.Answer(status: 204) }
                return .json(#"{"@odata.context":"$metadata#Items/$entity","ID":1,"Name":"a"}"#)
            }
            return .refusal(404)
        }
        try await store.update("Items(1)", ["Name": "new"])
        let report = try await store.upload()
        #expect(report.failed.isEmpty)
        #expect(service.lines.contains("PATCH Items/1"))
    }

    @Test(
        "A refused MERGE is sent as PATCH or a tunnelled POST before a PUT",
        arguments: ["GET, PATCH", "GET, POST", nil])
    func merge(_ allowed: String?) async throws {
        let service = OddService(OddService.olderSchema())
        let store = try await service.clone()
        service.answer { request in
            if ["MERGE", "PUT"].contains(request.method) {
                return .refusal(405, "no", allowed.map { ["Allow": $0] } ?? [:])
            }
            if request.method == "PATCH", allowed != "GET, PATCH" { return .refusal(405) }
            return ["PATCH", "POST"].contains(request.method) ? OddService.Answer(status: 204) : nil
        }
        try await store.update("Items(1)", ["Name": "new"])
        #expect(try await store.upload().failed.isEmpty)
        #expect(!service.requests.contains { $0.method == "PUT" })
    }

    @Test("The further errors of a refusal are stored")
    func details() async throws {
        let service = OddService()
        let store = try await service.clone()
        service.answer { request in
            guard request.method == "PATCH" else { return nil }
            return .json(
                #"{"error":{"code":"1","message":"several","details":[{"code":"2","message":"blocked","target":"Name"}]}}"#,
                status: 400)
        }
        try await store.update("Items(1)", ["Name": "new"])
        try await store.upload()
        let details = try await store.observe.status().failed.first?.failure?.details
        #expect(details == [ODataError.Detail(code: "2", message: "blocked", target: "Name")])
    }

    @Test("Discarding a change of an entity that others deleted removes the row")
    func deletedByOthers() async throws {
        let service = OddService()
        let store = try await service.clone()
        try await store.update("Items(1)", ["Name": "new"])
        service.rows = [:]
        #expect(try await store.upload().failed.first?.failure?.conflict == .deleted)
        try await store.changes.discard()
        #expect(try await store.rows("Items").isEmpty)
    }

    @Test(
        "A service that supports only Atom is cloned and changed",
        arguments: ["", #"sap:supported-formats="atom" xmlns:sap="http://www.sap.com/Protocols/SAPData""#])
    func atom(_ container: String) async throws {
        let service = OddService(OddService.olderSchema(container: container))
        let entry = """
            <entry xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" \
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
            <id>http://odd.test/svc/Items(1)</id><content type="application/xml"><m:properties>\
            <d:ID m:type="Edm.Int32">1</d:ID><d:Name>a</d:Name></m:properties></content></entry>
            """
        service.answer { request in
            let accept = request.fields[.accept] ?? ""
            guard request.target.hasPrefix("Items"), !request.target.contains("$count") else { return nil }
            if request.method != "GET" {
                return request.fields[.contentType]?.contains("atom") == true
                    ? OddService.Answer(status: 204) : .refusal(415)
            }
            guard accept.contains("atom") else { return .refusal(406) }
            let body =
                request.target.contains("(") ? entry : #"<feed xmlns="http://www.w3.org/2005/Atom">\#(entry)</feed>"#
            return OddService.Answer(fields: ["Content-Type": "application/atom+xml"], body: body)
        }
        let store = try await service.clone()
        #expect(try await store.rows("Items(1)").first?["Name"] == "a")
        try await store.update("Items(1)", ["Name": "new"])
        #expect(try await store.upload().failed.isEmpty)
    }

    @Test(
        "An entity is read and changed at its edit link",
        arguments: ["things/1", "/svc/edit/Items(1)"])
    func editLink(_ link: String) async throws {
        let service = OddService(rows: [1: "{\"@odata.editLink\":\"\(link)\",\"ID\":1,\"Name\":\"a\"}"])
        let store = try await service.clone()
        let target = link.hasPrefix("/svc/") ? String(link.dropFirst(5)) : link
        service.answer { request in
            guard request.target == target else { return request.target.hasPrefix("Items(") ? .refusal(404) : nil }
            if request.method == "PATCH" { return OddService.Answer(status: 204) }
            return .json(#"{"@odata.context":"$metadata#Items/$entity","ID":1,"Name":"a"}"#)
        }
        try await store.update("Items(1)", ["Name": "new"])
        #expect(try await store.upload().failed.isEmpty)
        #expect(service.lines.contains("PATCH \(target)"))
    }

    @Test("An edit link that equals the key address is not stored")
    func ownEditLink() async throws {
        let service = OddService(
            rows: [1: #"{"@odata.editLink":"http://odd.test/svc/Items(1)","ID":1,"Name":"a"}"#])
        let store = try await service.clone()
        try await store.update("Items(1)", ["Name": "new"])
        #expect(try await store.upload().failed.isEmpty)
        #expect(service.lines.contains("PATCH Items(1)"))
    }

    @Test("A response without success is not accepted", arguments: [202, 304])
    func noSuccess(_ status: Int) async throws {
        let service = OddService()
        let store = try await service.clone()
        service.answer { $0.method == "PATCH" ? OddService.Answer(status: status) : nil }
        try await store.update("Items(1)", ["Name": "new"])
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.failed.first?.state == (status == 202 ? .inDoubt : .refused))
    }
}
