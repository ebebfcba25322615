import HTTPTypes
import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// A resource of the device API that the OData handler does not answer, since it streams, resumes or holds requests.
protocol DeviceResource: Sendable {
    /// Answers a request.
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - body: The body, which is read on demand.
    ///   - caller: The caller, after the checks of ``DeviceDoor``.
    ///   - address: The address.
    /// - Returns: `nil` if the request is one for the OData handler.
    func answer(
        _ head: HTTPRequest, _ body: ByteStream, for caller: DeviceRequest, at address: DeviceAddresses.Address
    ) async throws -> (HTTPResponse, ByteStream)?
}

extension DeviceResource {
    /// Returns the registration that the request names.
    func registration(of caller: DeviceRequest) throws(ODataError) -> RegistrationRecord {
        guard let registration = caller.registration, !caller.isConfirmation else {
            throw ODataError(
                .registrationUnknown, "Name the registration in the field \(MobileFieldNames.registration).")
        }
        return registration
    }
}

/// The options of a URL: `kind=log&note=…`.
struct DeviceURLOptions: Sendable {
    private var values: [String: String] = [:]

    /// Reads the options of a path.
    ///
    /// - Throws: ``ODataError`` 400 for an option that is given twice or is no text.
    init(_ path: String?) throws(ODataError) {
        guard let path, let mark = path.firstIndex(of: "?") else { return }
        for option in path[mark...].dropFirst().split(separator: "&") {
            let name = option.prefix { $0 != "=" }
            guard let key = String(name).removingPercentEncoding,
                let value = String(option.dropFirst(name.count + 1)).removingPercentEncoding
            else { throw ODataError(.invalidProperty, "An option of the URL is no text.") }
            guard values.updateValue(value, forKey: key) == nil else {
                throw ODataError(.invalidProperty, "The option \(key) is given twice.", target: key)
            }
        }
    }

    subscript(name: String) -> String? { values[name] }
}

/// Answers with JSON.
enum DeviceAnswer {
    /// Returns an answer.
    static func json(_ status: HTTPResponse.Status, _ bytes: [UInt8]) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: status)
        response.headerFields[.contentType] = "application/json"
        response.headerFields[.contentLength] = String(bytes.count)
        return (response, ByteStream(bytes))
    }

    /// Returns an answer without a body.
    static func empty(_ status: HTTPResponse.Status = .noContent) -> (HTTPResponse, ByteStream) {
        (HTTPResponse(status: status), ByteStream([]))
    }
}

extension HTTPResponse {
    /// Sets a field of this protocol.
    mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { headerFields[name] = value }
    }
}
