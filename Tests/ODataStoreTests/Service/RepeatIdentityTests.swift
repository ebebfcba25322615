import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

/// A repeated request is the same request by the same caller. If another caller uses its id, or the body
/// differs, the stored response is not returned.
@Suite("The identity of a repeated request")
struct RepeatIdentityTests {
    private static let ann = Principal(name: "ann")
    private static let bob = Principal(name: "bob")
    private static let repeatability = Repeatability(requestID: "r-1", firstSent: "Fri, 15 Jan 2027 07:00:00 GMT")

    private func creation(_ bazaar: Bazaar, _ json: String, _ principal: Principal?) throws -> ODataRequest {
        var request = try bazaar.request(.create, "Products", json)
        request.context.principal = principal
        request.repeatability = Self.repeatability
        return request
    }

    @Test("the same id of another user names another request")
    func users() async throws {
        let bazaar = try await Bazaar()
        let first = try await bazaar.service.execute(creation(bazaar, #"{"Name":"Mug"}"#, Self.ann))
        let other = try await bazaar.service.execute(creation(bazaar, #"{"Name":"Cup"}"#, Self.bob))
        guard case .entity(let entity) = other.body else { throw ODataError.notFound("entity") }
        #expect(entity["Name"] == "Cup" && other.location != first.location)
        let repeated = try await bazaar.service.execute(creation(bazaar, #"{"Name":"Mug"}"#, Self.ann))
        #expect(repeated.location == first.location)
        // A name is unique only together with its issuer.
        let namesake = Principal(name: "ann", claims: ["iss": "https://elsewhere.example/"])
        let third = try await bazaar.service.execute(creation(bazaar, #"{"Name":"Mug"}"#, namesake))
        #expect(third.location != first.location)
        #expect(try await bazaar.names("Products").sorted() == ["Cup", "Mug", "Mug"])
    }

    @Test(
        "the same id with another body is refused, and equivalent bodies are repeats",
        arguments: [true, false])
    func bodies(isIdentified: Bool) async throws {
        let bazaar = try await Bazaar()
        let principal = isIdentified ? Self.ann : nil
        let first = try await bazaar.service.execute(creation(bazaar, #"{"Name":"Mug","Price":2}"#, principal))
        let error = await #expect(throws: ODataError.self) {
            try await bazaar.service.execute(creation(bazaar, #"{"Name":"Mug","Price":3}"#, principal))
        }
        #expect(error?.status == 400 && error?.repeatabilityResult == .rejected)
        let same = try await bazaar.service.execute(creation(bazaar, #"{ "Price": 2.0, "Name": "Mug" }"#, principal))
        #expect(same.location == first.location)
        #expect(try await bazaar.names("Products") == ["Mug"])
    }

    @Test("the same id with another stream is refused and stores nothing")
    func streams() async throws {
        let bazaar = try await Bazaar()
        func upload(_ bytes: [UInt8], _ type: String = "image/png") throws -> ODataRequest {
            var request = try bazaar.request(.create, "Pictures")
            request.body = .media(ByteStream(bytes), contentType: type)
            request.repeatability = Self.repeatability
            return request
        }
        let first = try await bazaar.service.execute(upload([1, 2, 3]))
        for other in [try upload([1, 2, 4]), try upload([1, 2, 3], "text/html")] {
            await #expect(throws: ODataError.self) { try await bazaar.service.execute(other) }
        }
        #expect(try await bazaar.service.execute(upload([1, 2, 3])).location == first.location)
        let left = try await bazaar.service.database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_stream")
        }
        #expect(left == 1)
    }

    @Test("a stored response of an earlier version without user and body still answers a repeat")
    func oldRows() async throws {
        let bazaar = try await Bazaar()
        let request = try creation(bazaar, #"{"Name":"Mug"}"#, Self.ann)
        let first = try await bazaar.service.execute(request)
        let former = RememberedRequests.formerFingerprint([request])
        try await bazaar.service.database.write {
            try $0.execute(sql: "UPDATE outpost_request SET client = '', fingerprint = ?", arguments: [former])
        }
        #expect(try await bazaar.service.execute(request).location == first.location)
        // The sender of such a stored response is unknown.
        let anonymous = try creation(bazaar, #"{"Name":"Mug"}"#, nil)
        #expect(try await bazaar.service.execute(anonymous).location == first.location)
        #expect(try await bazaar.names("Products") == ["Mug"])
    }
}
