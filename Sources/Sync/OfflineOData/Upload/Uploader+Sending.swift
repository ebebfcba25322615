import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// Transmits messages.
extension Uploader {
    /// A message failed before its first byte left: no token was available, the task was cancelled, or no
    /// connection was made.
    struct Unsent: Error {
        let reason: any Error
    }

    /// Sends the message for a unit.
    ///
    /// - Throws: ``Unsent`` if it certainly never left; else errors of the way to the service, which leave its
    ///   outcome open.
    func transmit(_ message: Message, of unit: UploadUnit, wasSent: Bool) async throws -> UploadStep.Answers {
        var request = message.request
        request.mayHaveBeenSent = wasSent
        do {
            let response = try await transmit(request)
            guard !unit.isSingle else { return UploadStep.Answers([.success(response)]) }
            guard case .batch(let results) = response.body, results.count == unit.requests.count else {
                return UploadStep.Answers(.partlyAnswered)
            }
            return UploadStep.Answers(results.map(\.result))
        } catch let error as ODataError {
            return UploadStep.Answers(unit.isSingle ? .refused(error) : .batchRefused(error))
        } catch let error as InvalidResponseError where error.isFromService {
            return UploadStep.Answers(.unreadable(ODataError(unreadable: error)))
        }
    }

    /// Sends a message.
    ///
    /// - Throws: ``Unsent`` if it certainly never left; else errors of the way to the service.
    private func transmit(_ message: ODataRequest) async throws -> ODataResponse {
        let isUnsent = LockedState(false)
        var message = message
        message.unsentObserver = { isUnsent.withLock { $0 = true } }
        do {
            return try await remote.execute(message)
        } catch let error as ODataError where !error.isOfCommunication {
            // An error before the transmission is a refusal all the same.
            throw error
        } catch let error as TransportError where error.isCertainlyUnsent {
            throw Unsent(reason: error)
        } catch {
            if isUnsent.withLock({ $0 }) { throw Unsent(reason: error) }
            throw error
        }
    }

    /// A refusal of one of the requests of a unit that trying again will not change; `nil` for any other error.
    func refusal(_ error: any Error, of unit: UploadUnit) -> ODataError? {
        unit.requests.lazy.compactMap { refusal(error, of: $0) }.first
    }

    /// Returns a refusal that concerns the subject of a request and that a repeat will not change. Either the
    /// service sent an unreadable response, or the queued change has no place in the service's model. `nil` for
    /// any other error.
    func refusal(_ error: any Error, of request: QueuedRequest) -> ODataError? {
        if let error = error as? ODataError { return error.isOfCommunication ? nil : error }
        if let error = error as? InvalidResponseError {
            return error.isFromService ? ODataError(unreadable: error) : nil
        }
        return error is JSONError || error is QueryError ? modelChanged(request) : nil
    }
}

extension ODataError {
    /// Creates the archived error for a response of the service that cannot be read.
    init(unreadable error: InvalidResponseError) {
        self.init(status: error.status, code: "UnreadableAnswer", message: error.description)
    }
}

extension InvalidResponseError {
    /// Whether the service itself gave the response, so that a repeat would get the same. A web page or redirect
    /// comes from a system on the way, such as a sign-in page.
    var isFromService: Bool {
        guard (200..<300).contains(status) else { return false }
        switch problem {
        case .webPage, .redirect: return false
        case .mediaType, .malformed, .unknownContext, .tooLarge: return true
        }
    }
}
