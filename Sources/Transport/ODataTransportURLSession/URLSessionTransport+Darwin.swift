#if canImport(Security)
    import CryptoKit
    import Foundation
    import HTTPTypes
    import ODataHTTP
    import ODataService
    import Security
    import Synchronization

    // The features of Apple platforms: streamed uploads, the timings of a transfer, trust by pins and by a
    // closure, and client certificates. This file is not compiled on Linux.

    extension URLSessionTransport {
        /// Creates a task whose body is read as fast as the connection accepts it.
        func streamingTask(
            _ request: URLRequest, body: ByteStream
        ) async throws -> URLSessionTask {
            var request = request
            if let length = body.length {
                request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            }
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(
                withBufferSize: ChunkSize.standard.bytes, inputStream: &input, outputStream: &output)
            guard let input, let output else {
                throw TransportError.cannotConnect(host: request.url?.host() ?? "", reason: "no stream can be made")
            }
            request.httpBodyStream = input
            let streamed = request
            let task = try made(streamed) { $0.uploadTask(withStreamedRequest: streamed) }
            BodyPump(body, into: output).start { [transfers] error in
                // A body that ends early must not look complete.
                transfers.note(error, of: task)
                task.cancel()
            }
            return task
        }
    }

    /// Writes a body into one end of a stream pair, in a separate task, because writing blocks.
    ///
    /// `@unchecked Sendable`: after `start()`, only that task uses the stream.
    private final class BodyPump: @unchecked Sendable {
        private let body: ByteStream
        private let output: OutputStream

        init(_ body: ByteStream, into output: OutputStream) {
            self.body = body
            self.output = output
        }

        func start(failing: @escaping @Sendable (any Error) -> Void) {
            Task.detached(priority: .utility) { [self] in
                output.open()
                do {
                    while let chunk = try await body.next(), write(chunk) {}
                    output.close()
                } catch {
                    failing(error)
                    output.close()
                }
            }
        }

        /// Writes a whole chunk; returns `false` if the connection accepts no more bytes, which the task itself
        /// reports.
        private func write(_ chunk: [UInt8]) -> Bool {
            var position = 0
            while position < chunk.count {
                let written = chunk[position...].withContiguousStorageIfAvailable {
                    $0.baseAddress.map { output.write($0, maxLength: chunk.count - position) } ?? -1
                }
                guard let written, written > 0 else { return false }
                position += written
            }
            return true
        }
    }

    extension TransferDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard let serverTrust = space.serverTrust else { return (.cancelAuthenticationChallenge, nil) }
                if let refusal = await refusal(of: serverTrust, host: space.host, port: space.port) {
                    transfer(of: task)?.refusal.withLock { $0 = refusal }
                    return (.cancelAuthenticationChallenge, nil)
                }
                return (.useCredential, URLCredential(trust: serverTrust))
            case NSURLAuthenticationMethodClientCertificate:
                let identity = transfer(of: task)?.options.clientIdentity ?? configuration.clientIdentity
                // An unreadable identity was refused before the request was sent.
                guard let credential = try? identity?.credential() else { return (.performDefaultHandling, nil) }
                return (.useCredential, credential)
            default:
                // User names and passwords are handled by outer layers, so the caller receives the 401 or 407.
                return (.rejectProtectionSpace, nil)
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            guard let report = transfer(of: task)?.options.report, let last = metrics.transactionMetrics.last else {
                return
            }
            let (now, here) = (Date(), ContinuousClock.now)
            func instant(_ date: Date?) -> ContinuousClock.Instant? {
                date.map { here - .seconds(now.timeIntervalSince($0)) }
            }
            if last.isReusedConnection {
                instant(last.requestStartDate).map { report(.reusedConnection($0)) }
            } else {
                instant(last.secureConnectionStartDate ?? last.connectEndDate).map { report(.connected($0)) }
                instant(last.secureConnectionEndDate).map { report(.secured($0)) }
            }
            instant(last.requestEndDate).map { report(.requestSent($0)) }
        }

        /// Returns the reason for which a chain is refused, or `nil` if it is accepted.
        private func refusal(of serverTrust: SecTrust, host: String, port: Int) async -> String? {
            let policy = configuration.trust
            if let own = policy.authorities.certificates {
                SecTrustSetAnchorCertificates(serverTrust, own.certificates as CFArray)
                SecTrustSetAnchorCertificatesOnly(serverTrust, !own.withSystem)
            }
            var error: CFError?
            let isTrusted = SecTrustEvaluateWithError(serverTrust, &error)
            let chain = (SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate] ?? [])
                .map { ServerCertificate($0) }
            // Without a trusted authority, only the key of the leaf certificate is proven to be the server's.
            let proven = isTrusted ? chain[...] : chain.prefix(1)
            guard policy.pins.isEmpty || proven.contains(where: { policy.pins.contains($0.pin) }) else {
                return "none of its keys is pinned"
            }
            guard !isTrusted else { return nil }
            let reason = error.map { CFErrorCopyDescription($0) as String } ?? "no trusted authority vouches for it"
            let question = ServerTrustQuestion(host: host, port: port, chain: chain, reason: reason)
            guard let decide = policy.decide else { return reason }
            return await decide(question) ? nil : reason
        }
    }

    extension ServerTrust.Authorities {
        fileprivate var certificates: (certificates: [SecCertificate], withSystem: Bool)? {
            switch self {
            case .system: nil
            case .only(let source): (source.certificates, false)
            case .systemAnd(let source): (source.certificates, true)
            }
        }
    }

    extension CertificateSource {
        /// The certificates in a PEM text; empty if it cannot be read, so that nothing is trusted.
        fileprivate var certificates: [SecCertificate] {
            let text: String
            switch self {
            case .file(let path): text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            case .pem(let bytes): text = String(decoding: bytes, as: UTF8.self)
            }
            return text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().compactMap { part in
                let body = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
                    .components(separatedBy: .whitespacesAndNewlines).joined()
                return Data(base64Encoded: body).flatMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            }
        }
    }

    extension ServerCertificate {
        fileprivate init(_ certificate: SecCertificate) {
            let bytes = SecCertificateCopyData(certificate) as Data
            let summary = SecCertificateCopySubjectSummary(certificate) as String? ?? ""
            let serial = SecCertificateCopySerialNumberData(certificate, nil) as Data? ?? Data()
            func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
                bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
            self.init(
                subject: summary, commonName: summary, issuer: "", issuerCommonName: nil,
                serialNumber: hexadecimal(serial), notBefore: 0, notAfter: 0, names: [],
                fingerprint: hexadecimal(SHA256.hash(data: bytes)), pin: certificate.pin, bytes: Array(bytes))
        }
    }

    extension SecCertificate {
        /// The digest of the public key as in RFC 7469. The system returns the key without its ASN.1 header,
        /// which is constant for each of the supported key types.
        fileprivate var pin: String {
            guard let key = SecCertificateCopyKey(self), let data = SecKeyCopyExternalRepresentation(key, nil) as Data?,
                let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
                let type = attributes[kSecAttrKeyType] as? String,
                let size = attributes[kSecAttrKeySizeInBits] as? Int
            else { return "" }
            let header: [UInt8]?
            switch (type, size) {
            case (kSecAttrKeyTypeECSECPrimeRandom as String, 256):
                header = [
                    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
                    0x86,
                    0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
                ]
            case (kSecAttrKeyTypeECSECPrimeRandom as String, 384):
                header = [
                    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B,
                    0x81,
                    0x04, 0x00, 0x22, 0x03, 0x62, 0x00,
                ]
            case (kSecAttrKeyTypeRSA as String, 2048):
                header = [
                    0x30, 0x82, 0x01, 0x22, 0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01,
                    0x01,
                    0x05, 0x00, 0x03, 0x82, 0x01, 0x0F, 0x00,
                ]
            case (kSecAttrKeyTypeRSA as String, 4096):
                header = [
                    0x30, 0x82, 0x02, 0x22, 0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01,
                    0x01,
                    0x05, 0x00, 0x03, 0x82, 0x02, 0x0F, 0x00,
                ]
            default: header = nil
            }
            return header.map { Data(SHA256.hash(data: Data($0) + data)).base64EncodedString() } ?? ""
        }
    }

    extension ClientIdentity {
        /// Returns the identity for the system, which reads PKCS #12 archives but no PEM from memory.
        ///
        /// - Throws: ``ClientIdentityError``.
        func credential() throws(ClientIdentityError) -> URLCredential {
            guard case .pkcs12(let bytes, let passphrase) = encoding else {
                throw ClientIdentityError(reason: "URLSession reads PKCS #12 archives alone, and this is PEM.")
            }
            var items: CFArray?
            let options = [kSecImportExportPassphrase as String: passphrase ?? ""]
            guard SecPKCS12Import(Data(bytes) as CFData, options as CFDictionary, &items) == errSecSuccess,
                let first = (items as? [[String: Any]])?.first,
                let identity = first[kSecImportItemIdentity as String].map({ $0 as AnyObject }),
                CFGetTypeID(identity) == SecIdentityGetTypeID()
            else {
                throw ClientIdentityError(
                    reason: "the archive cannot be opened with this passphrase, or holds no certificate with its key.")
            }
            // The type id was checked above, because a conditional cast cannot distinguish Core Foundation
            // types.
            let secIdentity = unsafeDowncast(identity, to: SecIdentity.self)
            return URLCredential(identity: secIdentity, certificates: nil, persistence: .forSession)
        }
    }
#endif
