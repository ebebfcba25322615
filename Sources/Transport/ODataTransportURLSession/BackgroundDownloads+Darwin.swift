#if canImport(Security)
    import Foundation
    import HTTPTypes
    import ODataHTTP
    import Synchronization

    /// Downloads that the system goes on with while the app sleeps or has ended (Apple's platforms alone).
    ///
    /// The system writes each download to a file, then wakes the app, which gets the file here. Credentials are those
    /// of the request as it was given: a request that may wait long should carry a token that lives long.
    ///
    /// ```swift
    /// let downloads = BackgroundDownloads(identifier: "com.example.shop") { label, result in … }
    /// downloads.start(request, label: "manual")
    /// ```
    public final class BackgroundDownloads: NSObject, URLSessionDownloadDelegate, Sendable {
        /// Gets what came of a download: the file, which is deleted when the call returns, and the head of the answer.
        public typealias Finish =
            @Sendable (_ label: String, Result<(file: URL, response: HTTPResponse), any Error>) -> Void

        private let finish: Finish
        private let session = Mutex<URLSession?>(nil)

        /// Takes up the downloads of an identifier again, those of an earlier launch included.
        ///
        /// - Parameters:
        ///   - identifier: names them across launches.
        ///   - allowsExpensive: whether they go over networks that cost by volume.
        public init(identifier: String, allowsExpensive: Bool = false, finish: @escaping Finish) {
            self.finish = finish
            super.init()
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.allowsExpensiveNetworkAccess = allowsExpensive
            configuration.sessionSendsLaunchEvents = true
            let own = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            session.withLock { $0 = own }
        }

        /// Starts a download.
        ///
        /// - Throws: ``TransportError/invalidURL(_:)``.
        public func start(_ request: HTTPRequest, label: String) throws {
            let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")"
            guard Origin(request) != nil, let url = URL(string: text) else { throw TransportError.invalidURL(text) }
            var message = URLRequest(url: url)
            message.add(request.headerFields)
            let task = session.withLock { $0?.downloadTask(with: message) }
            task?.taskDescription = label
            task?.resume()
        }

        /// The system's call when a file is complete.
        public func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            guard let answer = downloadTask.response as? HTTPURLResponse else { return }
            var head = HTTPResponse(status: .init(code: answer.statusCode))
            for (name, value) in answer.allHeaderFields {
                guard let name = name as? String, let value = value as? String, let field = HTTPField.Name(name) else {
                    continue
                }
                head.headerFields[field] = value
            }
            finish(downloadTask.taskDescription ?? "", .success((location, head)))
        }

        /// The system's call when a download has failed.
        public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let error else { return }
            finish(task.taskDescription ?? "", .failure(error))
        }

        /// Redirects to another origin are not followed: credentials must not go along.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            let (old, new) = (task.originalRequest?.url, request.url)
            let staysHome = old?.scheme == new?.scheme && old?.host == new?.host && old?.port == new?.port
            completionHandler(staysHome ? request : nil)
        }
    }
#endif
