import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

/// What becomes of a message, as far as that is known where it is sent.
extension Uploader {
    /// A message failed before its first byte left: no token was to be had, the task was cancelled, no connection was made.
    struct Unsent: Error {
        let reason: any Error
    }

    /// Sends a message.
    ///
    /// - Throws: ``Unsent`` where it certainly never left; else what the way to the service throws.
    func transmit(_ message: ODataRequest) async throws -> ODataResponse {
        let isUnsent = LockedState(false)
        var message = message
        message.unsentObserver = { isUnsent.withLock { $0 = true } }
        do {
            return try await remote.execute(message)
        } catch let error as ODataError where !error.isOfCommunication {
            // What refuses beforehand refuses all the same.
            throw error
        } catch let error as TransportError where error.isCertainlyUnsent {
            throw Unsent(reason: error)
        } catch {
            if isUnsent.withLock({ $0 }) { throw Unsent(reason: error) }
            throw error
        }
    }

    /// A refusal of what a request is about, which trying again will not change: by the service, since it answers what cannot be
    /// read, or since what is queued is nothing that its model has any more; `nil` for any other error.
    func refusal(_ error: any Error, of request: QueuedRequest) -> ODataError? {
        if let error = error as? ODataError { return error.isOfCommunication ? nil : error }
        if let error = error as? InvalidResponseError {
            return error.isFromService ? ODataError(unreadable: error) : nil
        }
        return error is JSONError || error is QueryError ? modelChanged(request) : nil
    }
}

extension ODataError {
    /// What the error archive has of an answer of the service that cannot be read.
    init(unreadable error: InvalidResponseError) {
        self.init(status: error.status, code: "UnreadableAnswer", message: error.description)
    }
}
