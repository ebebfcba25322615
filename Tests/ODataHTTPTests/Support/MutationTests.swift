import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

/// Randomly damaged messages, which the codec must answer or refuse without a trap.
@Suite struct MutationTests {
    /// A generator that returns the same numbers for the same seed, so that a failure is reproducible.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    private static func damaged(_ text: String, _ numbers: inout Numbers) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &numbers) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: bytes.remove(at: place)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
            case 2:
                bytes.insert(
                    contentsOf: Array("()'$/?@{}[]\",:%;=-".utf8).shuffled(using: &numbers).prefix(2), at: place)
            default: bytes.removeLast(bytes.count - place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let requests = [
        "GET /service/Products(1)/Category?$expand=Products($select=ID;$top=1)\nAccept: application/json;q=0.5\n\n",
        "POST /service/Products\nContent-Type: application/json\nPrefer: return=minimal\n\n{\"ID\":1,\"Tags\":[\"a\"]}",
        "PUT /service/Products(1)/Price/$value\nContent-Type: text/plain\n\n1.25",
        "PATCH /service/Contoso/Address\nContent-Type: application/json\n\n{\"City\":\"Rome\"}",
        "POST /service/Products/$query\nContent-Type: text/plain\n\n$filter=ID%20eq%201",
        "POST /service/$batch\nContent-Type: multipart/mixed;boundary=b\n\n" + BatchTests.multipart,
        "POST /service/$batch\nContent-Type: application/json\n\n{\"requests\":[{\"id\":\"1\",\"method\":\"post\","
            + "\"url\":\"Orders\",\"atomicityGroup\":\"g\",\"body\":{\"ID\":1}},{\"id\":\"2\",\"method\":\"patch\","
            + "\"url\":\"$1\",\"dependsOn\":[\"1\"],\"body\":{\"Amount\":2}}]}",
    ]

    @Test(arguments: requests) func `damaged requests are answered`(request: String) async throws {
        let provider = try ScriptedProvider { request in
            if case .batch(let items) = request.body {
                return ODataResponse(
                    body: .batch(items.map { BatchResult(id: $0.id, result: .success(ODataResponse())) }))
            }
            return ODataResponse(body: .page(EntityPage()))
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        var numbers = Numbers(state: 7)
        for _ in 0..<400 {
            let (message, body) = Transcript.request(Self.damaged(request, &numbers))
            let (response, stream) = await handler.handle(message, body)
            #expect((200..<600).contains(response.status.code))
            _ = try await stream.collect(limit: 1 << 20)
        }
    }

    private static let responses = [
        "200\nContent-Type: application/json\n\n{\"@odata.context\":\"$metadata#Products(ID)/$delta\",\"value\":"
            + "[{\"@removed\":{\"reason\":\"changed\"},\"ID\":1},{\"ID\":2,\"Color\":\"Red\"}],\"@odata.nextLink\":\"../x?y\"}",
        "404\nContent-Type: application/json\nRetry-After: 5\n\n{\"error\":{\"code\":\"1\",\"message\":\"m\",\"details\":[]}}",
        "200\nContent-Type: text/html\n\n<html><title>Hello</title></html>",
    ]

    @Test(arguments: responses) func `damaged answers are read or refused`(response: String) async throws {
        var numbers = Numbers(state: 11)
        let decoder = try ExampleService.responseDecoder()
        for _ in 0..<400 {
            let (message, body) = Transcript.response(Self.damaged(response, &numbers))
            guard (200..<600).contains(message.status.code) else { continue }
            for request in [
                ODataRequest(following: "http://host/service/x"), ODataRequest(.read, ODataURL(set: "Products")),
            ] {
                do {
                    _ = try await decoder.decode(message, body: body, to: request)
                } catch is ODataError {
                } catch is InvalidResponseError {
                }
            }
        }
    }
}
