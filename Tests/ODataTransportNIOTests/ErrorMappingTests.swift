import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import ODataHTTP
import Testing

@testable import ODataTransportNIO

/// A message that certainly was not sent is sent again, a change too. Only failures before the first byte count
/// as that.
@Suite struct ErrorMappingTests {
    private func mapped(_ error: any Error) throws -> TransportError? {
        let origin = try #require(Origin(scheme: "http", authority: "service.test"))
        return TransportErrorMapping(origin: origin, authority: "service.test", proxy: nil).headError(error)
            as? TransportError
    }

    @Test("the same error number has a meaning for each system", arguments: [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH])
    func unreachable(number: CInt) throws {
        for reason in ["connect(descriptor:addr:size:)", "finishing a non-blocking connect failed"] {
            #expect(try mapped(IOError(errnoCode: number, reason: reason))?.isCertainlyUnsent == true)
        }
        for reason in ["read(descriptor:pointer:size:)", "writev(descriptor:iovecs:)", "so_error"] {
            #expect(try mapped(IOError(errnoCode: number, reason: reason))?.isCertainlyUnsent == false)
        }
    }

    @Test("a status has three digits, or the response is not HTTP", arguments: [0, 99, 100, 999, 1000, 2000])
    func status(code: Int) {
        let response = HTTPClientResponse(status: .custom(code: UInt(code), reasonPhrase: ""))
        #expect(HTTPResponse(response)?.status.code == ((100...999).contains(code) ? code : nil))
    }
}
