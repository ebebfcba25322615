/// The stores of the device services: uploads, shared storage, messages, bundles and records.
///
/// A driver of ``ServerState`` that has them conforms to this protocol, too. Callers ask for them with
/// ``ServerState/deviceServices()``, which refuses a driver without them.
///
/// ```swift
/// let uploads = try state.deviceServices().uploads
/// ```
public protocol DeviceServiceStores: Sendable {
    /// Logs, traces, crashes, usage and stores that devices send.
    var uploads: any DeviceUploadStore { get }
    /// JSON documents of applications, users and devices.
    var sharedDocuments: any SharedDocumentStore { get }
    /// Numbered messages to devices, and the subscriptions of devices.
    var messages: any DeviceMessageStore { get }
    /// Customization bundles.
    var bundles: any DeviceBundleStore { get }
    /// Log records of devices, and personalization values of users.
    var records: any DeviceRecordStore { get }
}

extension ServerState {
    /// Returns the stores of the device services.
    ///
    /// - Throws: ``ServerStateError/unsupported(operation:)`` if the driver does not have them.
    public func deviceServices() throws(ServerStateError) -> any DeviceServiceStores {
        guard let services = self as? any DeviceServiceStores else {
            throw .unsupported(operation: "keep uploads, shared documents, messages, bundles and records")
        }
        return services
    }
}
