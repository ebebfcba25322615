import OfflineOData
import Synchronization

/// A delegate that records the reports of a synchronization.
final class SyncListener: OfflineODataProviderDelegate {
    private let heard = Mutex<[SyncProgress]>([])
    private let ended = Mutex<[UploadReport]>([])

    var progress: [SyncProgress] { heard.withLock { $0 } }
    var earlyEnds: [UploadReport] { ended.withLock { $0 } }

    func offlineODataProvider(_ provider: OfflineODataProvider, didUpdate progress: SyncProgress) {
        heard.withLock { $0.append(progress) }
    }

    func offlineODataProvider(_ provider: OfflineODataProvider, uploadDidEndEarly report: UploadReport) {
        ended.withLock { $0.append(report) }
    }
}
